/* Text search: immediately over the texts of the list, then over all texts, then over responses. */
import { forgetData, loadData } from "../base/data.js";

const AT_ONCE = 8; // chunks loaded concurrently

/** @type {(text: string) => string} */
const folded = (text) => text.normalize("NFKC").toLowerCase();

/** Search the samples of a condition.

    base: name of the questions' data; n: questions; chunk: questions a chunk.
    @type {(questions: Questions, base: string, n: number, chunk: number) => Search} */
export function searcher(questions, base, n, chunk) {
  const short = questions.ids.map((name, row) => folded(`${name}\n${questions.texts[row]}`));
  /** @type {Map<string, string[]>} */
  const texts = new Map([[base, new Array(n)]]); // by data: texts of the questions, and responses of each model
  const here = new Set(); // chunks that were loaded, or cannot be
  /** @type {{ key: string, marks: Uint8Array | null }} */
  let kept = { key: "", marks: null };

  /** Load the texts to search; calls progress(done, of) after each chunk.

      Returns whether anything was loaded.
      @type {Search["complete"]} */
  async function complete(models, progress) {
    /** @type {{ data: string, kind: string, read: (one: any) => string }[]} */
    const parts = [{ data: base, kind: "texts", read: ofQuestion }, ...models.map(({ data }) => ({ data, kind: "responses", read: ofResponses }))];
    const jobs = parts.flatMap(({ data, kind, read }) => {
      if (!texts.has(data)) texts.set(data, new Array(n));
      return Array.from({ length: Math.ceil(n / chunk) }, (_, k) => ({ data, name: `${data}-${kind}-${k}`, first: k * chunk, read }));
    }).filter(({ name }) => !here.has(name));
    let [next, done] = [0, 0];
    const work = async () => {
      while (next < jobs.length) {
        await take(jobs[next++]);
        progress((done += 1), jobs.length);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return jobs.length > 0;
  }

  /** @type {(job: { data: string, name: string, first: number, read: (one: any) => string }) => Promise<void>} */
  async function take({ data, name, first, read }) {
    here.add(name);
    try {
      (await loadData(name)).forEach((/** @type {unknown} */ one, /** @type {number} */ i) => { texts.get(data)[first + i] = folded(read(one)); });
      forgetData(name); // the search keeps its own copy
    } catch {
      // missing data are not searched; the sample shows the error
    }
  }

  /** Marks of the rows that contain every word, in the texts loaded so far; null: no words, all rows.

      Words may be in the question and in the responses of one model, but not of several.
      @type {Search["found"]} */
  function found(text, models) {
    const words = folded(text).split(/\s+/).filter(Boolean);
    if (!words.length) return null;
    const key = JSON.stringify([words, models.map(({ data }) => data), here.size]);
    if (kept.key === key) return kept.marks;
    const asked = [short, texts.get(base)];
    const said = models.map(({ data }) => texts.get(data)).filter(Boolean);
    /** @type {(row: number, word: string, read: string[][]) => boolean} */
    const within = (row, word, read) => read.some((of) => of[row] && of[row].includes(word));
    const marks = new Uint8Array(n);
    for (let row = 0; row < n; row += 1) {
      const left = words.filter((word) => !within(row, word, asked));
      marks[row] = Number(!left.length || said.some((one) => left.every((word) => within(row, word, [one]))));
    }
    kept = { key, marks };
    return marks;
  }

  return { complete, found };
}

/** @type {(one: QuestionText) => string} */
function ofQuestion(one) {
  return [one.text, one.context, ...(one.options || []), ...(one.answer || [])].filter(Boolean).join("\n");
}

/** @type {(said: SampleResponse[]) => string} */
function ofResponses(said) {
  return said.map((one) => (Array.isArray(one.text) ? one.text[0] : one.text || "")).join("\n");
}
