// The note on the right: a passage of it marked, and its links and backlinks to follow.

import { lineWords } from "./answer.js";
import { byId, get, make } from "./dom.js";
import { Rendered, noteLink } from "./markdown.js";

export class NotePanel {
  constructor() {
    Object.assign(this, { history: [], note: null, opening: 0 });
    this.body = byId("note");
    byId("back").addEventListener("click", () => {
      this.history.pop();
      this.show(this.history.at(-1));
    });
  }

  /** Open a note by name, path or link; a glance gives way to the next one. */
  async open(name, { lines = null, isGlance = false } = {}) {
    const wanted = { name, lines, isGlance };
    const last = this.history.at(-1);
    if (last?.name === name && String(last.lines?.first) === String(lines?.first)) {
      last.isGlance &&= isGlance;
      return;
    }
    if (last?.isGlance) this.history.pop();
    this.history.push(wanted);
    await this.show(wanted);
  }

  async show(wanted) {
    byId("back").disabled = this.history.length < 2;
    const opening = (this.opening += 1);
    let note;
    try {
      note = await get("/api/note", { path: wanted.name });
    } catch (error) {
      if (opening !== this.opening) return;
      this.note = null;
      byId("note-title").textContent = wanted.name;
      this.body.replaceChildren(make("p", { className: "notice" }, error.words ?? String(error)));
      return;
    }
    if (opening !== this.opening) return;
    this.note = note;
    byId("note-title").textContent = note.title;
    const passage = wanted.lines ?? sectionAt(note);
    const text = make("div");
    new Rendered(text, 2).show(note.text);
    if (!note.text.trim()) text.append(make("p", { className: "quiet" }, "This note has no text."));
    const about = [note.path, passage ? lineWords(passage) : "", ...note.tags.map((tag) => `#${tag}`)];
    this.body.replaceChildren(
      make("p", { className: "quiet place" }, about.filter(Boolean).join(" · ")),
      text,
      ...linkList("Links", note.links, (link) => [link.path, link.target]),
      ...linkList("Backlinks", note.backlinks, (link) => [link.source, link.source, link.context]),
    );
    this.body.scrollTop = 0;
    if (passage) this.mark(text, passage);
  }

  /** Mark the smallest blocks that hold the lines, and bring them into sight. */
  mark(text, { first, last }) {
    const holds = (each) => Number(each.dataset.line) <= last && Number(each.dataset.end) >= first;
    const blocks = [...text.querySelectorAll("[data-line]")].filter(holds);
    const marked = blocks.filter((each) => ![...each.querySelectorAll("[data-line]")].some(holds));
    for (const each of marked) each.classList.add("passage");
    if (!marked.length) return;
    marked[0].prepend(make("span", { className: "unseen" }, "Passage: "));
    const above = marked[0].getBoundingClientRect().top - this.body.getBoundingClientRect().top;
    this.body.scrollTop += above - this.body.clientHeight / 4;
  }

  /** What a link in the note leads to. */
  targetOf(target) {
    if (!this.note) return target;
    const plain = (each) => decodeURIComponent(each.text).includes(target) || each.target === target.split("#")[0];
    const found = this.note.links.find((link) => {
      try {
        return link.path && plain(link);
      } catch {
        return false;
      }
    });
    const anchor = target.includes("#") ? target.slice(target.indexOf("#")) : "";
    if (target.startsWith("#")) return this.note.path + target;
    return found ? found.path + anchor : target;
  }
}

/** The lines of the section that a name leads to: from its heading to the next one. */
function sectionAt({ line, anchor, sections, text }) {
  if (!line || !anchor) return null;
  const next = sections.find((section) => section.line > line);
  const isHeading = sections.some((section) => section.line === line);
  return { first: line, last: isHeading ? (next ? next.line - 1 : text.split("\n").length) : line };
}

function linkList(title, links, of) {
  const rows = new Map();
  for (const link of links) {
    const [path, name, context] = of(link);
    if (!path) rows.set(link.text, make("li", {}, link.text, make("span", { className: "quiet" }, " there is no such note")));
    else if (!rows.has(path)) {
      const label = name.split("/").at(-1).replace(/\.md$/, "");
      const link_ = noteLink(path, label);
      link_.dataset.path = path;
      rows.set(path, make("li", {}, link_, ...(context ? [make("span", { className: "quiet" }, context)] : [])));
    }
  }
  if (!rows.size) return [];
  return [make("h3", {}, `${title} (${rows.size})`), make("ul", { className: "links" }, ...rows.values())];
}
