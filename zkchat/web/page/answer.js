// One answer: what is done for it, its text as it comes, questions about changes, and its sources.
import { counted, make, post } from "./dom.js";
import { Rendered, inline, linked, noteLink, targetIn } from "./markdown.js";

const TOOLS = {
  find_excerpts: "Looking for passages on",
  find_documents: "Looking for notes on",
  read_document: "Reading",
  find_backlinks: "Looking for links to",
  resolve_wikilink: "Looking up",
};
const DECISIONS = { applied: "Changed", declined: "Not changed", kept: "Only proposed", dropped: "Dropped" };
const UNREAD = "An answer before a look into the notes";
let questions = 0;
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

export const lineWords = ({ first, last }) => (first === last ? `line ${first}` : `lines ${first}–${last}`);
/** What a user wrote: text, with links to notes. */
export function questionArticle(text) {
  const body = make("div", { className: "text", dir: "auto" }, ...linked(text));
  return make("article", { className: "question" }, make("h2", { className: "unseen" }, "You"), body);
}

export class Answer {
  /** `tell` is called with words for the status row; `session` gives the id of the session. */
  constructor({ tell = () => {}, session = () => "" } = {}) {
    Object.assign(this, { tell, session, references: [], text: "", steps: new Map(), asked: [], piece: null, begun: 0 });
    this.stepList = make("ol");
    this.stepWords = make("summary");
    this.stepBox = make("details", { className: "steps", hidden: true }, this.stepWords, this.stepList);
    this.body = make("div", { className: "text" });
    this.foot = make("footer", { hidden: true });
    const name = make("h2", { className: "unseen" }, "zkchat");
    this.article = make("article", { className: "answer", answer: this }, name, this.stepBox, this.body, this.foot);
  }
  /** Show what an event says. Text is drawn with the next frame. */
  play(event) { this[`on_${event.kind}`]?.(event); }
  /** Show a stored message. */
  add(message) {
    for (const part of message.parts) {
      if (part.kind === "text") this.on_text(part);
      else if (part.kind === "thinking") this.on_thinking(part);
      else if (part.kind === "tool_call") this.on_tool_started(part);
      else if (part.kind === "tool_result") this.finishStep(part.call_id, part.failed ? "failed" : "");
      else if (part.kind === "compaction") this.remark("Older messages were summarised here.");
    }
    if (message.role === "assistant") this.complete(message);
    if (message.asked_again) this.fold(UNREAD);
  }

  complete({ references, error }) {
    this.flush();
    if (references.length) this.references = references;
    if (error) this.remark(error, error === "Stopped." ? "remark" : "error");
    this.showSources();
  }
  // The text
  on_text({ text }) {
    this.piece ??= { text: "", shown: new Rendered(this.body.appendChild(make("div"))) };
    this.piece.text += text;
    this.text += text;
    this.frame ??= requestAnimationFrame(() => this.flush());
    this.tell("Writing");
  }
  /** Draw what has come. */
  flush() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.piece?.shown.show(this.piece.text);
    this.drawn?.();
  }
  /** Text that comes after this is shown by itself. */
  cut() { this.flush(); this.piece = null; }

  remark(text, className = "remark") {
    this.cut();
    this.body.append(inline(text, make("p", { className })));
  }

  notice(className, ...sentences) { this.remark(sentences.filter(Boolean).join(" "), className); }
  on_remark({ text }) { this.remark(text); }
  on_warning({ text, hint }) { this.notice("notice", text, hint); }
  on_error({ text, hint }) { this.notice("error", text, hint); }
  on_failed({ text, hint }) { this.notice("error", text, hint); }
  on_replaced() { this.fold("An answer before this one, which your notes contradict"); }
  on_printed(event) { this.cut(); this.on_text(event); this.cut(); }
  /** Put away what is no answer. */
  fold(words) {
    this.cut();
    const nodes = [...this.body.childNodes].slice(this.begun);
    if (this.text) this.body.append(make("details", { className: "before" }, make("summary", {}, words), ...nodes));
    this.text = "";
  }

  on_finished({ message, cut_off: isCutOff }) {
    if (!this.text) message.parts.filter((part) => part.kind === "text").forEach((part) => this.on_text(part));
    this.complete(message);
    if (isCutOff) this.remark("The model ran out of room here.");
    this.isProvisional = false; // in a goal run other turns follow
    this.tell("");
  }
  // What is done
  on_activity({ text }) { this.tell(text.replace(/[ …]{1,9}$/, "")); }
  on_resource_read({ server, uri }) { this.step(uri, `Reading ${uri} from ${server}`); }
  on_compacting({ messages }) { this.step("compacting", `Summarising ${counted(messages, "older message")}`); }
  on_step_started({ number, total, text }) { this.remark(`Step ${number} of ${total}: ${text}`, "title"); }
  on_step_finished({ state, reason }) { this.cut(); if (state !== "done") this.remark(`It is ${state}: ${reason}`); }
  on_goal_ended({ goal, hint }) { if (goal.reason || hint) this.notice("notice", goal.reason, hint); }
  on_goal_planned({ goal }) {
    this.on_printed({ text: goal.steps.map((step, index) => `${index + 1}. ${step.text}`).join("\n") });
  }
  on_prompt_ready({ is_provisional: isProvisional }) {
    if (this.isProvisional) this.fold(UNREAD);
    Object.assign(this, { isProvisional, text: "", begun: this.body.childNodes.length });
    this.tell("Waiting for the model");
  }
  on_thinking({ text }) {
    const row = this.steps.get("thinking") ?? this.step("thinking", "Thinking");
    row.thoughts ??= row.appendChild(make("p", { className: "thinking" }));
    row.thoughts.append(text);
    this.tell("Thinking");
  }

  on_tool_started(event) {
    this.cut();
    this.steps.delete("thinking");
    this.step(event.call_id, toolWords(event));
  }

  on_tool_finished({ call_id: id, summary, failed }) {
    this.finishStep(id, failed ? `failed: ${summary}` : summary);
    this.tell("Waiting for the model");
  }

  finishStep(id, result) { if (result) this.steps.get(id)?.append(make("span", {}, ` · ${result}`)); }

  step(id, words) {
    const row = make("li", {}, words);
    this.steps.set(id, row);
    this.stepList.append(row);
    this.stepBox.hidden = false;
    this.stepWords.textContent = `${counted(this.stepList.children.length, "step")}: ${words}`;
    this.tell(words);
    return row;
  }
  // Sources
  on_reference({ reference }) { this.references.push(reference); }
  on_links_resolved({ references }) { this.references.push(...references); }
  on_evidence({ evidence, nearest }) { this.references.push(...evidence, ...nearest); }
  /** The reference that a link in the text means. */
  referenceFor(target) {
    const wanted = target.toLowerCase();
    const known = this.references.filter((each) => each.relative_path);
    const names = ({ wikilink, anchor }) => [targetIn(wikilink), `${targetIn(wikilink)}#${anchor}`];
    const named = known.find((each) => names(each).some((name) => name.toLowerCase() === wanted));
    return named ?? known.find((each) => each.relative_path.toLowerCase().replace(/\.md$/, "") === wanted);
  }

  showSources() {
    const used = this.references.filter((each) => each.cited || each.unverified);
    const rows = used.map((each) => {
      const link = noteLink(targetIn(each.wikilink), each.title || each.wikilink);
      link.reference = each;
      const more = [
        each.anchor !== each.title && each.anchor,
        each.lines && lineWords(each.lines),
        each.status === "missing" && "there is no such note",
        each.status === "ambiguous" && "several notes have this name",
        each.unverified && "the model was not given this note",
        each.outdated_by && `${each.outdated_by} says otherwise`,
      ];
      return make("li", {}, link, make("span", { className: "quiet" }, ` ${more.filter(Boolean).join(" · ")}`));
    });
    this.foot.hidden = !rows.length;
    this.foot.replaceChildren(make("h3", {}, "Sources"), make("ol", {}, ...rows));
  }
  // Questions and changes
  on_question(question) {
    const isChange = question.about === "changes";
    const box = this.proposal(question, isChange ? "Change these notes?" : "");
    const answers = [["yes", isChange ? "Yes, change them" : "Yes"], ["no", "No"]];
    if (question.always) answers.push(["always", isChange ? "Yes, and do not ask again" : "Always"]);
    const buttons = answers.map(([value, words]) => make("button", { type: "button", value }, words));
    buttons[0].className = "main";
    const row = make("p", { className: "buttons" }, ...buttons);
    row.addEventListener("click", async ({ target: { value: answer } }) => {
      if (!answer) return;
      buttons.forEach((each) => (each.disabled = true));
      const sent = post("/api/review", { session: this.session(), id: question.id, answer });
      const words = await sent.then(() => `You said ${answer}.`, (error) => error.words);
      if (row.isConnected) this.decided(box, words);
    });
    box.append(row);
    this.asked.push(box);
    this.tell("Waiting for your answer");
    this.onQuestion?.(box, question);
  }

  on_proposed(proposed) {
    this.decided(this.proposal(proposed, "Proposed:"), "Only shown: nothing is changed without --write.");
  }

  on_changes_reviewed({ decision, paths, reason, record }) {
    const undo = decision === "applied" && record ? "/undo takes it back." : "";
    const words = [`${[DECISIONS[decision], paths.join(", ")].filter(Boolean).join(": ")}.`, reason, undo];
    if (this.asked.length) this.decided(this.asked.at(-1), words.filter(Boolean).join(" "));
    else this.notice("notice", ...words);
  }

  decided(box, words) {
    box.querySelector(".buttons")?.remove();
    const said = box.querySelector(".decided") ?? box.appendChild(make("p", { className: "decided" }));
    said.textContent = words;
    if (box.contains(document.activeElement) || document.activeElement === document.body) box.focus();
  }

  proposal({ title, diff = "", remarks = [], arguments: given = {} }, words) {
    this.cut();
    const id = `question-${(questions += 1)}`;
    const shown = Object.entries(given).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    const box = make("section", { className: "proposal", tabIndex: -1, "aria-labelledby": id });
    box.append(make("h3", { id }, `${words} ${title}`.trim()));
    box.append(...remarks.map((remark) => make("p", { className: "notice" }, remark)));
    if (shown.length) box.append(make("pre", { tabIndex: 0 }, shown.join("\n")));
    box.append(...diffNodes(diff));
    return this.body.appendChild(box);
  }
  /** The turn is over: nothing is waited for. */
  end() {
    this.flush();
    for (const box of this.asked) if (box.querySelector(".buttons")) this.decided(box, "Not answered.");
  }
}
/** A patch, file by file. */
function diffNodes(patch) {
  const nodes = [];
  let shown = null;
  for (const line of patch ? patch.trimEnd().split("\n") : []) {
    const file = /^diff --git a\/(.*?) b\//.exec(line);
    if (file || !shown) {
      shown = make("pre", { className: "diff", tabIndex: 0 });
      nodes.push(make("p", { className: "file" }, file ? file[1] : ""), shown);
      shown.isHead = Boolean(file); // up to its first lines it says only how it is made
    } else if (line.startsWith("@@")) {
      if (!shown.isHead) shown.append(make("span", { className: "gap" }, "⋯\n"));
      shown.isHead = false;
    } else if (!shown.isHead || !/^(index|new file mode|---|\+\+\+) /.test(line)) {
      shown.append(make({ "+": "ins", "-": "del" }[line[0]] ?? "span", { dir: "auto" }, `${line}\n`));
    }
  }
  return nodes;
}
