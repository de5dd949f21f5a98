// One answer: what is done for it, its text as it comes, questions about changes, and its sources.

import { counted, get, make, post } from "./dom.js";
import { Rendered, inline, noteLink } from "./markdown.js";

const TOOLS = {
  find_excerpts: "Looking for passages on",
  find_documents: "Looking for notes on",
  read_document: "Reading",
  find_backlinks: "Looking for links to",
  resolve_wikilink: "Looking up",
};
const DECISIONS = { applied: "Changed", declined: "Not changed", kept: "Only proposed", dropped: "Dropped" };
let numbers = 0;

/** What a tool is asked to do, in words. */
function toolWords({ name, arguments: given, server }) {
  let value = "";
  try {
    value = Object.values(JSON.parse(given)).find((each) => typeof each === "string") ?? "";
  } catch {
    // a model may write anything
  }
  const words = TOOLS[name] ?? (server ? `${server}: ${name}` : name.replaceAll("_", " "));
  return `${words} ${value.length > 80 ? `${value.slice(0, 79)}…` : value}`.trim();
}

/** What a user wrote: text, with links to notes. */
export function questionArticle(text) {
  const body = make("div", { className: "text", dir: "auto" });
  let done = 0;
  for (const link of text.matchAll(/\[\[([^[\]\n]{1,400})\]\]/g)) {
    const [target, alias] = link[1].split("|");
    body.append(text.slice(done, link.index), noteLink(target.trim(), alias ?? target));
    done = link.index + link[0].length;
  }
  body.append(text.slice(done));
  return make("article", { className: "question" }, make("h3", { className: "unseen" }, "You"), body);
}

export class Answer {
  /** `tell` is called with words for the status row; `session` gives the id of the session. */
  constructor({ tell = () => {}, session = () => "" } = {}) {
    Object.assign(this, { tell, session, references: [], text: "", steps: new Map(), asked: new Map() });
    this.stepList = make("ol");
    this.stepWords = make("summary", {}, "");
    this.stepBox = make("details", { className: "steps", hidden: true }, this.stepWords, this.stepList);
    this.body = make("div", { className: "text" });
    this.foot = make("footer", { hidden: true });
    this.article = make(
      "article",
      { className: "answer" },
      make("h3", { className: "unseen" }, "zkchat"),
      this.stepBox,
      this.body,
      this.foot,
    );
    this.article.answer = this;
  }

  /** Show what an event says. Text is drawn with the next frame. */
  play(event) {
    this[`on_${event.kind}`]?.(event);
  }

  /** A stored message. */
  add(message) {
    for (const part of message.parts) {
      if (part.kind === "text") this.on_text(part);
      else if (part.kind === "thinking") this.on_thinking(part);
      else if (part.kind === "tool_call") this.on_tool_started(part);
      else if (part.kind === "tool_result") this.finishStep(part.call_id, part.failed ? "failed" : "");
      else if (part.kind === "compaction") this.remark("Older messages were summarised here.");
    }
    if (message.role === "assistant") this.complete(message);
  }

  complete(message) {
    this.flush();
    this.references = message.references.length ? message.references : this.references;
    if (message.error) this.notice(message.error, "", "error");
    this.showSources();
  }

  // The text

  on_text({ text }) {
    if (!this.piece) {
      this.piece = { text: "", shown: new Rendered(this.body.appendChild(make("div"))) };
    }
    this.piece.text += text;
    this.text += text;
    this.frame ??= requestAnimationFrame(() => this.flush());
    this.tell("Writing");
  }

  /** Draw what has come. */
  flush() {
    if (this.frame) cancelAnimationFrame(this.frame);
    this.frame = null;
    this.piece?.shown.show(this.piece.text);
    this.drawn?.();
  }

  remark(text, className = "remark") {
    this.flush();
    this.piece = null;
    this.body.append(inline(text, make("p", { className })));
  }

  notice(text, hint, className = "notice") {
    this.remark([text, hint].filter(Boolean).join(" "), className);
  }

  on_remark({ text }) {
    this.remark(text);
  }

  on_warning({ text, hint }) {
    this.notice(text, hint);
  }

  on_error({ text, hint }) {
    this.notice(text, hint, "error");
  }

  on_failed({ text, hint }) {
    this.notice(text, hint, "error");
  }

  on_printed({ text }) {
    this.piece = null;
    this.on_text({ text });
    this.flush();
    this.piece = null;
  }

  on_replaced() {
    this.fold("An answer before this one, which your notes contradict");
  }

  /** Put away what is no answer. */
  fold(words) {
    this.flush();
    this.piece = null;
    if (!this.text) return;
    const before = make("details", { className: "before" }, make("summary", {}, words), ...this.body.childNodes);
    this.body.append(before);
    this.text = "";
  }

  on_finished({ message, cut_off: isCutOff }) {
    if (!this.text) for (const part of message.parts) if (part.kind === "text") this.on_text(part);
    this.complete(message);
    if (isCutOff) this.remark("The model ran out of room here.");
    this.tell("");
  }

  // What is done

  on_activity({ text }) {
    this.tell(text.replace(/[ …]+$/, ""));
  }

  on_prompt_ready() {
    this.fold("An answer before a look into the notes");
    this.tell("Waiting for the model");
  }

  on_thinking({ text }) {
    this.tell("Thinking");
    const row = this.steps.get("thinking") ?? this.step("thinking", "Thinking");
    row.details ??= row.appendChild(make("p", { className: "thinking" }));
    row.details.append(text);
  }

  on_tool_started(event) {
    this.flush();
    this.piece = null;
    this.steps.delete("thinking");
    const words = toolWords(event);
    this.tell(words);
    this.step(event.call_id, words);
  }

  on_tool_finished({ call_id: id, summary, failed }) {
    this.finishStep(id, failed ? `failed: ${summary}` : summary);
    this.tell("Waiting for the model");
  }

  finishStep(id, result) {
    if (result) this.steps.get(id)?.append(make("span", { className: "quiet" }, ` · ${result}`));
  }

  on_compacting({ messages }) {
    this.tell(`Summarising ${counted(messages, "message")}`);
    this.step("compacting", `Summarising ${counted(messages, "older message")}`);
  }

  on_resource_read({ server, uri }) {
    this.step(uri, `Reading ${uri} from ${server}`);
  }

  on_step_started({ number, total, text }) {
    this.flush();
    this.piece = null;
    this.remark(`**Step ${number} of ${total}:** ${text}`, "title");
  }

  on_step_finished({ state, reason }) {
    if (state !== "done") this.remark(`This step is ${state}: ${reason}`);
  }

  on_goal_planned({ goal }) {
    this.on_printed({ text: goal.steps.map((step, index) => `${index + 1}. ${step.text}`).join("\n") });
  }

  on_goal_ended({ goal, hint }) {
    if (goal.reason || hint) this.notice(goal.reason, hint);
  }

  step(id, words) {
    const row = make("li", {}, words);
    this.steps.set(id, row);
    this.stepList.append(row);
    this.stepBox.hidden = false;
    this.stepWords.textContent = `${counted(this.stepList.children.length, "step")}: ${words}`;
    return row;
  }

  // Sources

  on_reference({ reference }) {
    this.references.push(reference);
  }

  on_links_resolved({ references }) {
    this.references.push(...references);
  }

  on_evidence({ evidence, nearest }) {
    this.references.push(...evidence, ...nearest);
  }

  /** The reference that a link in the text means. */
  referenceFor(target) {
    const named = (each) => each.wikilink.replace(/^!?\[\[|\]\]$/g, "").split("|")[0].trim().toLowerCase();
    const wanted = target.toLowerCase();
    const fits = this.references.filter((each) => each.relative_path);
    const path = (each) => each.relative_path.toLowerCase();
    return (
      fits.find((each) => named(each) === wanted) ??
      (wanted.includes("#")
        ? undefined
        : fits.find((each) => [path(each), path(each).replace(/\.md$/, "")].includes(wanted)))
    );
  }

  showSources() {
    const used = this.references.filter((each) => each.cited || each.unverified);
    this.foot.hidden = !used.length;
    const row = (each) => {
      const link = noteLink(each.wikilink.replace(/^!?\[\[|\]\]$/g, "").split("|")[0], each.title || each.wikilink);
      link.reference = each;
      const place = [each.anchor && each.anchor !== each.title ? each.anchor : "", each.lines ? lineWords(each.lines) : ""];
      const doubts = [
        each.status === "missing" && "there is no such note",
        each.status === "ambiguous" && "several notes have this name",
        each.unverified && "the model was not given this note",
        each.outdated_by && `${each.outdated_by} says otherwise`,
      ];
      const more = [...place, ...doubts].filter(Boolean).join(" · ");
      return make("li", {}, link, make("span", { className: "quiet" }, more ? ` ${more}` : ""));
    };
    this.foot.replaceChildren(make("h4", {}, "Sources"), make("ol", {}, ...used.map(row)));
  }

  // Questions and changes

  on_question(question) {
    this.flush();
    this.tell("Waiting for your answer");
    const box = this.proposal(question, question.about === "changes" ? "Change these notes?" : "");
    const answers = [["yes", question.about === "changes" ? "Yes, change them" : "Yes"], ["no", "No"]];
    if (question.always) answers.push(["always", question.about === "changes" ? "Yes, and do not ask again" : "Always"]);
    const buttons = answers.map(([answer, words]) => make("button", { type: "button", value: answer }, words));
    buttons[0].className = "main";
    const row = make("p", { className: "buttons" }, ...buttons);
    row.addEventListener("click", async ({ target: { value } }) => {
      if (!value) return;
      buttons.forEach((each) => (each.disabled = true));
      try {
        await post("/api/review", { session: this.session(), id: question.id, answer: value });
        this.decided(box, value === "no" ? "You said no." : "You said yes.");
      } catch (error) {
        this.decided(box, error.words ?? String(error));
      }
      this.tell("");
    });
    box.append(row);
    this.asked.set(question.id, box);
    this.onQuestion?.(box, question);
  }

  on_proposed(proposed) {
    this.decided(this.proposal(proposed, "Proposed"), "Only shown: nothing is changed without --write.");
  }

  on_changes_reviewed({ decision, paths, reason, record }) {
    const what = paths.length ? `${DECISIONS[decision]}: ${paths.join(", ")}.` : `${DECISIONS[decision]}.`;
    const undo = decision === "applied" && record ? "/undo takes it back." : "";
    const box = [...this.asked.values()].at(-1);
    const words = [what, reason, undo].filter(Boolean).join(" ");
    if (box) this.decided(box, words);
    else this.notice(words);
  }

  decided(box, words) {
    box.querySelector(".buttons")?.remove();
    const said = box.querySelector(".decided") ?? box.appendChild(make("p", { className: "decided" }));
    said.textContent = words;
  }

  proposal({ title, diff, remarks = [], arguments: given }, words) {
    const id = `question-${(numbers += 1)}`;
    const shown = Object.entries(given ?? {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    const box = make(
      "section",
      { className: "proposal", tabIndex: -1 },
      make("h4", { id }, words ? `${words} ${title}` : title),
      ...remarks.map((remark) => make("p", { className: "notice" }, remark)),
      ...(shown.length ? [make("pre", { tabIndex: 0 }, shown.join("\n"))] : []),
      ...(diff ? diffNodes(diff) : []),
    );
    box.setAttribute("aria-labelledby", id);
    this.body.append(box);
    this.piece = null;
    return box;
  }

  /** The turn is over: nothing is waited for. */
  end() {
    this.flush();
    for (const box of this.asked.values()) if (box.querySelector(".buttons")) this.decided(box, "Not answered.");
    this.article.querySelectorAll("details.steps").forEach((each) => (each.open = false));
  }
}

export const lineWords = ({ first, last }) => (first === last ? `line ${first}` : `lines ${first}–${last}`);

/** A patch, file by file. */
function diffNodes(patch) {
  const nodes = [];
  let shown = null;
  for (const line of patch.replace(/\n$/, "").split("\n")) {
    const file = /^diff --git a\/(.*?) b\//.exec(line);
    if (file) {
      shown = make("pre", { className: "diff", tabIndex: 0 });
      nodes.push(make("p", { className: "file" }, file[1]), shown);
    } else if (!shown) {
      nodes.push((shown = make("pre", { className: "diff", tabIndex: 0 }, `${line}\n`)));
    } else if (/^@@/.test(line)) {
      if (shown.childNodes.length) shown.append(make("span", { className: "gap" }, "⋯\n"));
    } else if (!/^(---|\+\+\+) /.test(line) || shown.childNodes.length) {
      shown.append(make({ "+": "ins", "-": "del" }[line[0]] ?? "span", { dir: "auto" }, `${line}\n`));
    }
  }
  return nodes;
}
