// Nodes, requests and streams of events. Text becomes text, never HTML.
export const byId = (id) => document.getElementById(id);
export const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
/** A new element; `children` are nodes and texts, names with a hyphen are attributes. */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "dataset") Object.assign(element.dataset, value);
    else if (key.includes("-")) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children);
  return element;
}
/** An error in words, with what to do about it. */
export class Problem extends Error {
  constructor(message, hint = "") {
    super(message);
    this.hint = hint;
    this.words = `${message} ${hint}`.trim();
  }
}

async function asked(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("zkchat serve does not answer.", "Is it still running?");
  }
  if (answer.ok) return answer;
  if (answer.status === 401) throw new Problem("This browser is not known.", "Open the address that zkchat serve printed.");
  const { error } = await answer.json().catch(() => ({}));
  throw new Problem(error?.message ?? `The server answered ${answer.status}.`, error?.hint);
}

export async function get(path, parameters = {}, signal = undefined) {
  return (await asked(`${path}?${new URLSearchParams(parameters)}`, { signal })).json();
}

const sent = (content, signal) => {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content), signal };
};

export const post = async (path, content) => (await asked(path, sent(content))).json();
/** The events that the server answers with, as they come. */
export async function* events(path, content, signal) {
  const reader = (await asked(path, sent(content, signal))).body.pipeThrough(new TextDecoderStream()).getReader();
  let unread = "";
  for (;;) {
    const piece = await reader.read().catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Problem("The connection to zkchat serve broke off.", "What came of the answer is kept.");
    });
    if (piece.done) return;
    const blocks = (unread + piece.value).split("\n\n");
    unread = blocks.pop();
    for (const block of blocks) if (block.startsWith("data: ")) yield JSON.parse(block.slice(6));
  }
}
