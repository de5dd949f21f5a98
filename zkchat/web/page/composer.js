// The message that is being written: its size, its keys, and what may follow in it.
import { byId, get, make } from "./dom.js";

const WAIT = 60; // milliseconds after a key
const MAX_CHOICES = 12;

export class Composer {
  constructor(send) {
    Object.assign(this, { send, choices: [], active: -1, commands: [], asked: null, timer: 0 });
    this.field = byId("message");
    this.list = byId("choices");
    this.field.addEventListener("input", () => this.changed());
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("click", () => this.close());
    this.field.addEventListener("blur", () => this.close());
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const row = event.target.closest("[role=option]");
      if (row) this.choose(Number(row.dataset.number));
    });
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
  }

  get before() { return this.field.value.slice(0, this.field.selectionStart); }

  write(text) { this.field.value = text; this.field.focus(); this.changed(); }

  submit() {
    const text = this.field.value.trim();
    if (!text || byId("send").hidden) return;
    this.write("");
    this.send(text);
  }

  changed() {
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight}px`;
    clearTimeout(this.timer);
    this.asked?.abort();
    const { before } = this;
    if (/^\/[\w-]*$/.test(before)) {
      const typed = before.toLowerCase();
      const fits = this.commands.filter(({ name, minor }) => `/${name}`.startsWith(typed) && (typed !== "/" || !minor));
      this.show(fits.map(({ name, arguments: more, help: about }) => {
        return { text: `/${name}${more ? " " : ""}`, replaces: before.length, name: `/${name} ${more}`, about };
      }));
    } else if (/\[\[[^\]\n]*$/.test(before) || /^\/\S+ [^\n]*$/.test(before) || /(^|\s)[@#]\S*$/.test(before)) {
      this.timer = setTimeout(() => this.ask(before), WAIT);
    } else {
      this.close();
    }
  }

  async ask(text) {
    this.asked = new AbortController();
    const after = this.field.value.slice(text.length, text.length + 200);
    const found = await get("/api/complete", { text, after }, this.asked.signal).catch(() => []);
    if (this.before === text && document.activeElement === this.field) this.show(found.slice(0, MAX_CHOICES));
  }

  show(choices) {
    Object.assign(this, { choices, at: this.before.length }); // what is typed meanwhile is replaced too
    this.list.hidden = !choices.length;
    const rows = choices.map(({ name, about }, number) => {
      const properties = { id: `choice-${number}`, role: "option", dataset: { number } };
      return make("li", properties, make("b", {}, name), make("span", {}, about));
    });
    this.list.replaceChildren(...rows);
    this.activate(choices.length ? 0 : -1);
  }

  activate(number) {
    this.active = number;
    [...this.list.children].forEach((row, each) => row.setAttribute("aria-selected", String(each === number)));
    this.field.removeAttribute("aria-activedescendant");
    if (number < 0) return;
    this.field.setAttribute("aria-activedescendant", `choice-${number}`);
    this.list.children[number].scrollIntoView({ block: "nearest" });
  }

  close() { clearTimeout(this.timer); this.show([]); }

  choose(number) {
    const { text, replaces } = this.choices[number];
    const { value } = this.field;
    this.field.setRangeText(text, this.at - replaces, this.before.length, "end");
    this.close();
    if (this.field.value !== value && !text.endsWith("]]")) this.changed();
  }

  key(event) {
    if (event.isComposing) return;
    const isOpen = !this.list.hidden;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isEnter = event.key === "Enter" && !event.shiftKey;
    if (isOpen && move) {
      this.activate((this.active + move + this.choices.length) % this.choices.length);
    } else if (isOpen && event.key === "Escape") {
      this.close();
      event.stopPropagation();
    } else if (isOpen && ((isEnter && !this.isWhole()) || (event.key === "Tab" && !event.shiftKey))) {
      this.choose(this.active);
    } else if (isEnter) {
      this.submit();
    } else {
      return;
    }
    event.preventDefault();
  }
  /** Whether what would be chosen is written already. */
  isWhole() {
    const { text, replaces } = this.choices[this.active];
    return replaces > 0 && this.before.slice(-replaces) === text.trimEnd();
  }
}
