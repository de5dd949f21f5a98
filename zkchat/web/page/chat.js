// The conversation in the middle: its messages, turns that are being answered, and what fills the context.

import { Answer, questionArticle } from "./answer.js";
import { Problem, byId, counted, events, get, make, post } from "./dom.js";

const NEAR = 48; // pixels from the end within which the reader is at it
const SHARES = [
  ["system", "instructions"],
  ["tools", "tools"],
  ["messages", "messages"],
  ["memory", "memory"],
  ["references", "notes"],
  ["images", "images"],
];

export class Chat {
  /** `onSession` is called when the conversation gets its name. */
  constructor(onSession) {
    Object.assign(this, { onSession, id: "", known: new Set(), turns: new Map(), isAtEnd: true, opening: 0 });
    this.log = byId("log");
    this.list = byId("messages");
    this.log.addEventListener("scroll", () => this.noteScroll(), { passive: true });
    byId("latest").addEventListener("click", () => {
      this.isAtEnd = true;
      this.settle();
    });
    byId("stop").addEventListener("click", () => this.stop());
    setInterval(() => this.showSeconds(), 500);
    new ResizeObserver(() => this.settle()).observe(this.log);
  }

  /** The turn that is being answered in the conversation that is shown. */
  get turn() {
    return this.turns.get(this.id);
  }

  // Scrolling: the end stays in sight, unless the reader went up.

  noteScroll() {
    this.isAtEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < NEAR;
    byId("latest").hidden = this.isAtEnd;
  }

  settle() {
    if (this.isAtEnd) this.log.scrollTop = this.log.scrollHeight;
    this.noteScroll();
  }

  // Opening

  begin() {
    this.opening += 1;
    this.id = "";
    this.reset({ title: "", model: "" });
  }

  reset(session) {
    this.known = new Set();
    this.open = null;
    this.list.replaceChildren();
    this.isAtEnd = true;
    byId("start").hidden = Boolean(this.id);
    byId("context").hidden = true;
    this.showName(session);
    this.showTurn();
  }

  showName({ title, model, agent, private: isPrivate }) {
    byId("title").textContent = title || "New conversation";
    document.title = title ? `${title} – zkchat` : "zkchat";
    const who = [model, agent && agent !== "default" ? agent : "", isPrivate ? "private" : ""];
    byId("who").textContent = who.filter(Boolean).join(" · ");
  }

  async resume(id) {
    const opening = (this.opening += 1);
    const stored = await get(`/api/sessions/${encodeURIComponent(id)}`);
    if (opening !== this.opening) return;
    this.id = id;
    this.reset(stored.session);
    this.add(stored.messages);
    if (this.turn) this.list.append(...this.turn.articles);
    this.settle();
  }

  /** Show what another program added. */
  async catchUp() {
    if (!this.id || this.turn) return;
    const { id, opening } = this;
    const stored = await get(`/api/sessions/${encodeURIComponent(id)}`);
    if (opening !== this.opening || id !== this.id || this.turn) return;
    const ids = new Set(stored.messages.map((message) => message.id));
    if ([...this.known].some((each) => !ids.has(each))) this.reset(stored.session); // another branch
    this.showName(stored.session);
    this.add(stored.messages);
    this.settle();
  }

  /** Show the messages that are not shown yet, up to those of the turn that is under way. */
  add(messages) {
    for (const message of messages) {
      if (message.id === this.turn?.message) break;
      if (this.known.has(message.id)) continue;
      this.known.add(message.id);
      if (message.role === "user") {
        this.open = null;
        const text = message.parts.filter((part) => part.kind === "text").map((part) => part.text);
        this.list.append(questionArticle(text.join("\n")));
      } else if (message.role !== "system" || message.parts.some((part) => part.kind === "compaction")) {
        if (!this.open) this.list.append((this.open = new Answer()).article);
        this.open.add(message);
        if (message.context_usage) this.showUsage(message.context_usage);
      }
    }
    byId("start").hidden = Boolean(this.id);
  }

  // Asking

  async ask(text) {
    if (this.turn) return;
    const turn = { id: this.id, since: Date.now(), words: "Sending", abort: new AbortController(), message: "" };
    const answer = new Answer({ session: () => turn.id, tell: (words) => this.tell(turn, words) });
    turn.articles = [questionArticle(text), answer.article];
    answer.drawn = () => turn === this.turn && this.settle();
    answer.onQuestion = (box, question) => this.showQuestion(turn, box, question);
    this.turns.set(turn.id, turn);
    byId("start").hidden = true;
    this.list.append(...turn.articles);
    this.open = null;
    this.isAtEnd = true;
    this.settle();
    this.showTurn();
    try {
      for await (const event of events("/api/chat", { message: text, session: turn.id }, turn.abort.signal)) {
        this.take(turn, answer, event);
      }
    } catch (error) {
      if (error.name !== "AbortError") {
        const { message, hint } = error instanceof Problem ? error : { message: String(error), hint: "" };
        answer.on_error({ text: message, hint });
      }
    }
    answer.end();
    this.turns.delete(turn.id);
    if (turn.id === this.id) await this.finish(turn, answer);
  }

  take(turn, answer, event) {
    const isShown = this.turns.get(this.id) === turn;
    if (event.kind === "session") {
      if (turn.id !== event.id) {
        this.turns.delete(turn.id);
        turn.id = event.id;
        this.turns.set(turn.id, turn);
        if (isShown) this.id = turn.id;
      }
      if (isShown) {
        this.showName(event);
        this.onSession(event);
      }
    } else if (event.kind === "prompt_ready") {
      turn.message ||= event.message_id;
    } else if (event.kind === "end" && event.stopped) {
      answer.remark("Stopped.");
    }
    answer.play(event);
    const usage = event.kind === "finished" ? event.next_usage : event.kind === "prompt_ready" ? event.usage : null;
    if (isShown && usage) this.showUsage(usage);
    if (isShown) this.settle();
  }

  /** After a turn: everything that is stored is shown. */
  async finish(turn, answer) {
    this.showTurn();
    this.settle();
    const text = [...answer.body.children].filter((each) => each.localName !== "details").map((each) => each.innerText);
    byId("said").textContent = `zkchat: ${text.join("\n").slice(0, 5000)}`;
    const { opening } = this;
    const stored = await get(`/api/sessions/${encodeURIComponent(turn.id)}`).catch(() => null);
    if (opening === this.opening) for (const message of stored?.messages ?? []) this.known.add(message.id);
  }

  async stop() {
    const { turn } = this;
    if (!turn) return;
    this.tell(turn, "Stopping");
    if (!turn.id || turn.isStopping) turn.abort.abort();
    turn.isStopping = true;
    if (turn.id) await post("/api/chat/stop", { session: turn.id }).catch(() => turn.abort.abort());
  }

  showQuestion(turn, box, { title }) {
    if (turn !== this.turn) return;
    this.isAtEnd = true;
    this.settle();
    byId("said").textContent = `A question waits for your answer: ${title}`;
    if (!byId("message").value) box.focus();
  }

  // The rows below

  tell(turn, words) {
    if (turn.words === words) return;
    turn.words = words;
    turn.since = Date.now();
    if (turn === this.turn) this.showTurn();
  }

  showTurn() {
    const { turn } = this;
    byId("doing").textContent = turn?.words ? `${turn.words} …` : "";
    byId("send").hidden = Boolean(turn);
    byId("stop").hidden = !turn;
    this.showSeconds();
  }

  showSeconds() {
    const passed = this.turn?.words ? Math.floor((Date.now() - this.turn.since) / 1000) : 0;
    byId("seconds").textContent = passed > 1 ? ` ${passed} s` : "";
  }

  showUsage(usage) {
    const { total, window, compacts_at: limit } = usage;
    byId("context").hidden = !total;
    const percent = window ? Math.round((100 * total) / window) : 0;
    const number = (value) => value.toLocaleString("en");
    byId("filled").textContent = window
      ? `Context: ${percent} % of ${number(window)} tokens`
      : `Context: ${counted(total, "token")}`;
    const shares = SHARES.filter(([name]) => usage[name]);
    byId("fill").replaceChildren(
      ...shares.map(([name]) => {
        const part = make("i", { className: name });
        part.style.width = `${(100 * usage[name]) / (window || total)}%`;
        return part;
      }),
    );
    const rows = shares.map(([name, words]) => [words, usage[name], name]);
    if (window) rows.push(["free", usage.available, "free"]);
    if (limit) rows.push(["older messages are summarised above", limit, "limit"]);
    byId("shares").replaceChildren(
      ...rows.map(([words, value, name]) =>
        make("div", { className: name }, make("dt", {}, words), make("dd", {}, number(value))),
      ),
    );
  }
}
