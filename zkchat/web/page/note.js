// The note on the right: a passage of it marked, and its links and backlinks to follow.
import { lineWords } from "./answer.js";
import { byId, get, make } from "./dom.js";
import { Rendered, noteLink } from "./markdown.js";

export class NotePanel {
  constructor() {
    Object.assign(this, { history: [], note: null, opening: 0, body: byId("note") });
    byId("back").addEventListener("click", () => {
      this.history.pop();
      this.show(this.history.at(-1));
    });
  }
  /** Open a note by name, path or link; a glance gives way to the next one. */
  async open(name, lines = null, isGlance = false) {
    const last = this.history.at(-1);
    if (last?.name === name && last.lines?.first === lines?.first) {
      last.isGlance &&= isGlance;
      return;
    }
    if (last?.isGlance && isGlance) this.history.pop();
    this.history.push({ name, lines, isGlance });
    await this.show(this.history.at(-1));
  }

  async show({ name, lines }) {
    byId("back").disabled = this.history.length < 2;
    const opening = (this.opening += 1);
    const note = await get("/api/note", { path: name }).catch((error) => ({ problem: error.words }));
    if (opening !== this.opening) return;
    this.note = note;
    byId("note-title").textContent = note.title ?? name;
    this.body.scrollTop = 0;
    this.body.replaceChildren(make("p", { className: "notice" }, note.problem ?? ""));
    if (note.problem) return;
    const passage = lines ?? sectionAt(note);
    const text = make("div");
    new Rendered(text).show(note.text);
    if (!note.text.trim()) text.append(make("p", { className: "quiet" }, "This note has no text."));
    const about = [note.path, ...(passage ? [lineWords(passage)] : []), ...note.tags.map((tag) => `#${tag}`)];
    this.body.replaceChildren(
      make("p", { className: "quiet place" }, about.join(" · ")),
      text,
      ...linkList("Links", note.links, ({ path }) => path),
      ...linkList("Backlinks", note.backlinks, ({ source }) => source),
    );
    if (passage) this.mark(text, passage);
  }
  /** Mark the smallest blocks that hold the lines, and bring them into sight. */
  mark(text, { first, last }) {
    const holds = (each) => Number(each.dataset.line) <= last && Number(each.dataset.end) >= first;
    const blocks = [...text.querySelectorAll("[data-line]")].filter(holds);
    const marked = blocks.filter((each) => ![...each.querySelectorAll("[data-line]")].some(holds));
    if (!marked.length) return;
    for (const each of marked) each.classList.add("passage");
    const place = marked[0].localName === "tr" ? marked[0].firstChild : marked[0];
    place.prepend(make("span", { className: "unseen" }, "Passage: "));
    const above = place.getBoundingClientRect().top - this.body.getBoundingClientRect().top;
    this.body.scrollTop += above - this.body.clientHeight / 4;
  }
  /** What a link in the note leads to. */
  targetOf(target) {
    const [name, ...anchor] = target.split("#");
    const found = this.note?.links?.find((link) => link.path && link.target === name);
    return [name ? (found?.path ?? name) : this.note.path, ...anchor].join("#");
  }
}
/** The lines of the section that a name leads to: from its heading to the next one. */
function sectionAt({ line, anchor, sections, text }) {
  if (!line || !anchor) return null;
  const isHeading = sections.some((section) => section.line === line);
  const next = sections.find((section) => section.line > line)?.line ?? text.split("\n").length + 1;
  return { first: line, last: isHeading ? next - 1 : line };
}

function linkList(title, links, pathOf) {
  const rows = new Map();
  for (const link of links) {
    const path = pathOf(link);
    if (rows.has(path ?? link.text)) continue;
    const label = (path ?? link.text).split("/").at(-1).replace(/\.md$/, "");
    const shown = path ? noteLink(path, label) : label;
    if (path) shown.dataset.path = path;
    const more = path ? link.context : "there is no such note";
    rows.set(path ?? link.text, make("li", {}, shown, ...(more ? [make("span", { className: "quiet" }, more)] : [])));
  }
  if (!rows.size) return [];
  return [make("h3", {}, `${title} (${rows.size})`), make("ul", { className: "links" }, ...rows.values())];
}
