// The conversation in the middle: its messages, turns that are being answered, and what fills the context.
import { Answer, questionArticle } from "./answer.js";
import { byId, counted, events, get, make, post } from "./dom.js";

const NEAR = 48; // pixels from the end within which the reader is at it
const SHARES = [
  ["system", "instructions"], ["tools", "tools"], ["messages", "messages"], ["memory", "memory"],
  ["references", "notes"], ["images", "images"],
];
const storedSession = (id) => get(`/api/sessions/${encodeURIComponent(id)}`);

export class Chat {
  /** `onSession` is called when the conversation gets its name. */
  constructor(onSession) {
    Object.assign(this, { onSession, id: "", known: new Set(), turns: new Map(), isAtEnd: true, opening: 0 });
    this.log = byId("log");
    this.list = byId("messages");
    this.log.addEventListener("scroll", () => this.noteScroll(), { passive: true });
    byId("latest").addEventListener("click", () => this.settle(true));
    byId("stop").addEventListener("click", () => this.stop());
    setInterval(() => this.showSeconds(), 500);
    new ResizeObserver(() => this.settle()).observe(this.log);
  }
  /** The turn that is being answered in the conversation that is shown. */
  get turn() { return this.turns.get(this.id); }
  // Scrolling: the end stays in sight, unless the reader went up.
  noteScroll() {
    this.isAtEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < NEAR;
    byId("latest").hidden = this.isAtEnd;
  }

  settle(isAtEnd = this.isAtEnd) { if (isAtEnd) this.log.scrollTop = this.log.scrollHeight; this.noteScroll(); }
  // Opening
  begin() { this.opening += 1; this.id = ""; this.reset({}); }

  reset(session) {
    this.known = new Set();
    this.open = null;
    this.list.replaceChildren();
    byId("start").hidden = Boolean(this.id);
    byId("context").classList.remove("known");
    this.showName(session);
    this.showTurn();
  }

  showName({ title = "", model = "", agent = "", private: isPrivate = false }) {
    byId("title").textContent = title || "New conversation";
    document.title = title ? `${title} – zkchat` : "zkchat";
    const who = [model, agent === "default" ? "" : agent, isPrivate ? "private" : ""];
    byId("who").textContent = who.filter(Boolean).join(" · ");
  }

  async resume(id) {
    const opening = (this.opening += 1);
    const { session, messages } = await storedSession(id);
    if (opening !== this.opening) return;
    this.id = id;
    this.reset(session);
    this.add(messages);
    if (this.turn) this.list.append(...this.turn.articles);
    this.settle(true);
  }
  /** Show what another program added. */
  async catchUp() {
    await this.ending;
    const { id, opening } = this;
    if (!id || this.turn) return;
    const { session, messages } = await storedSession(id);
    if (opening !== this.opening || id !== this.id || this.turn) return;
    const ids = new Set(messages.map((message) => message.id));
    if ([...this.known].some((each) => !ids.has(each))) this.reset(session); // another branch
    byId("title").textContent = session.title || "New conversation";
    this.add(messages);
    this.settle();
  }
  /** Show the messages that are not shown yet, up to those of the turn that is under way. */
  add(messages) {
    for (const message of messages) {
      if (message.id === this.turn?.message) break;
      if (this.known.has(message.id)) continue;
      this.known.add(message.id);
      if (message.role === "user") {
        const texts = message.parts.filter((part) => part.kind === "text").map((part) => part.text);
        this.list.append(questionArticle(texts.join("\n")));
        this.open = null;
      } else if (message.role !== "system" || message.parts.some((part) => part.kind === "compaction")) {
        if (!this.open) this.list.append((this.open = new Answer()).article);
        this.open.add(message);
        if (message.context_usage) this.showUsage(message.context_usage);
      }
    }
  }
  // Asking
  async ask(text) {
    if (this.turn) return;
    const turn = { id: this.id, since: Date.now(), words: "Sending", abort: new AbortController(), message: "" };
    const answer = new Answer({ session: () => turn.id, tell: (words) => this.tell(turn, words) });
    answer.drawn = () => turn === this.turn && this.settle();
    answer.onQuestion = (box, question) => this.showQuestion(turn, box, question);
    turn.articles = [questionArticle(text), answer.article];
    this.turns.set(turn.id, turn);
    this.open = null;
    byId("start").hidden = true;
    this.list.append(...turn.articles);
    this.settle(true);
    this.showTurn();
    try {
      for await (const event of events("/api/chat", { message: text, session: turn.id }, turn.abort.signal)) {
        this.take(turn, answer, event);
      }
    } catch (error) {
      if (error.name !== "AbortError") answer.on_error({ text: error.words ?? String(error) });
    }
    answer.end();
    this.ending = this.finish(turn, answer);
  }

  take(turn, answer, event) {
    const isShown = turn === this.turn;
    if (event.kind === "session") {
      this.turns.delete(turn.id);
      turn.id = event.id;
      this.turns.set(turn.id, turn);
      if (isShown) {
        this.id = turn.id;
        this.showName(event);
        this.onSession(event);
      }
    }
    if (event.kind === "prompt_ready") turn.message ||= event.message_id;
    if (event.kind === "end" && event.stopped) answer.remark("Stopped.");
    answer.play(event);
    const usage = event.next_usage ?? (event.kind === "prompt_ready" && event.usage);
    if (isShown && usage) this.showUsage(usage);
    if (isShown) this.settle();
  }
  /** After a turn everything that is stored is known. */
  async finish(turn, answer) {
    this.turns.delete(turn.id);
    if (turn.id !== this.id) return;
    this.showTurn();
    this.settle();
    const shown = [...answer.body.children].filter((each) => each.localName !== "details");
    byId("said").textContent = `zkchat: ${shown.map((each) => each.innerText).join("\n").slice(0, 5000)}`;
    const { opening } = this;
    const { messages = [] } = turn.message ? await storedSession(turn.id).catch(() => ({})) : {};
    if (opening === this.opening) for (const message of messages) this.known.add(message.id);
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
    byId("said").textContent = `A question waits for your answer: ${title}`;
    this.settle(true);
    if (!byId("message").value) box.focus();
  }
  // The rows below
  tell(turn, words) {
    if (turn.words === words) return;
    Object.assign(turn, { words, since: Date.now() });
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
    const { total, window } = usage;
    const room = window ? `${Math.round((100 * total) / window)} % of ${counted(window, "token")}` : counted(total, "token");
    byId("filled").textContent = `Context: ${room}`;
    byId("context").classList.toggle("known", total > 0);
    const rows = SHARES.filter(([name]) => usage[name]).map(([name, words]) => [words, usage[name], name]);
    const parts = rows.map(([, value, className]) => {
      const part = make("i", { className });
      part.style.width = `${(100 * value) / (window || total)}%`;
      return part;
    });
    byId("fill").replaceChildren(...parts);
    if (window) rows.push(["free", usage.available, "free"]);
    if (usage.compacts_at) rows.push(["older messages are summarised above", usage.compacts_at, ""]);
    const shown = rows.map(([words, value, className]) => {
      return make("div", { className }, make("dt", {}, words), make("dd", {}, value.toLocaleString("en")));
    });
    byId("shares").replaceChildren(...shown);
  }
}
