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
    this.field.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.field.addEventListener("click", () => this.close());
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

  get before() {
    return this.field.value.slice(0, this.field.selectionStart);
  }

  write(text) {
    this.field.value = text;
    this.field.focus();
    this.changed();
  }

  submit() {
    const text = this.field.value.trim();
    if (!text || byId("send").hidden) return;
    this.field.value = "";
    this.close();
    this.fit();
    this.send(text);
  }

  fit() {
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight + 2}px`;
  }

  changed() {
    this.fit();
    clearTimeout(this.timer);
    this.asked?.abort();
    const { before } = this;
    if (/^\/[\w-]*$/.test(before)) {
      const typed = before.toLowerCase();
      const fits = this.commands.filter(({ name, minor }) => `/${name}`.startsWith(typed) && (typed !== "/" || !minor));
      const rows = fits.map(({ name, arguments: more, help }) => {
        return { text: `/${name}${more ? " " : ""}`, replaces: before.length, name: `/${name} ${more}`, about: help };
      });
      this.show(rows, MAX_CHOICES * 5);
    } else if (/\[\[[^\]\n]*$/.test(before) || /^\/\S+ [^\n]*$/.test(before) || /(^|\s)[@#]\S*$/.test(before)) {
      this.timer = setTimeout(() => this.ask(before), WAIT);
    } else {
      this.close();
    }
  }

  async ask(before) {
    this.asked = new AbortController();
    const after = this.field.value.slice(before.length);
    try {
      const found = await get("/api/complete", { text: before, after: after.slice(0, 200) }, this.asked.signal);
      if (this.before === before) this.show(found, MAX_CHOICES);
    } catch {
      // without suggestions one writes on
    }
  }

  show(found, limit) {
    this.choices = found.slice(0, limit);
    this.list.hidden = !this.choices.length;
    this.list.replaceChildren(
      ...this.choices.map(({ name, about }, number) => {
        const row = make("li", { id: `choice-${number}`, dataset: { number } }, make("b", {}, name), make("span", {}, about));
        row.setAttribute("role", "option");
        return row;
      }),
    );
    this.activate(this.choices.length ? 0 : -1);
  }

  activate(number) {
    this.active = number;
    [...this.list.children].forEach((row, each) => row.setAttribute("aria-selected", String(each === number)));
    if (number < 0) {
      this.field.removeAttribute("aria-activedescendant");
      return;
    }
    this.field.setAttribute("aria-activedescendant", `choice-${number}`);
    const row = this.list.children[number];
    const above = row.offsetTop - this.list.scrollTop;
    if (above < 0) this.list.scrollTop = row.offsetTop;
    else if (above + row.offsetHeight > this.list.clientHeight) {
      this.list.scrollTop = row.offsetTop + row.offsetHeight - this.list.clientHeight;
    }
  }

  close() {
    clearTimeout(this.timer);
    this.show([], 0);
  }

  choose(number) {
    const { text, replaces } = this.choices[number];
    const { selectionStart: at, value } = this.field;
    this.field.setRangeText(text, at - replaces, at, "end");
    if (this.field.value === value) this.close();
    else this.changed();
    if (text.endsWith("]]")) this.close();
  }

  key(event) {
    if (event.isComposing) return;
    const isOpen = !this.list.hidden;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (isOpen && move) {
      this.activate((this.active + move + this.choices.length) % this.choices.length);
    } else if (isOpen && event.key === "Escape") {
      this.close();
      event.stopPropagation();
    } else if (isOpen && event.key === "Enter" && this.isWhole()) {
      this.submit();
    } else if (isOpen && (event.key === "Tab" || event.key === "Enter") && !event.shiftKey) {
      this.choose(this.active);
    } else if (event.key === "Enter" && !event.shiftKey) {
      this.submit();
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Whether what would be chosen is written already. */
  isWhole() {
    const { text, replaces } = this.choices[this.active];
    return this.before.slice(-replaces) === text.trimEnd() && replaces === text.trimEnd().length;
  }
}
