"use strict";
(() => {
  const index = JSON.parse(document.getElementById("index").textContent);
  const words = document.getElementById("words"), count = document.getElementById("count");
  const found = document.getElementById("found");
  const SHOWN = 50, AROUND = 90;
  // Words in a heading count more than words in a title, and these more than words in a text.
  const score = (one, word) =>
    (one.heading.toLowerCase().includes(word) ? 9 : 0) + (one.page.toLowerCase().includes(word) ? 3 : 0) +
    (one.text.toLowerCase().includes(word) ? 1 : 0);
  const excerpt = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - AROUND / 2);
    return (at > 0 ? "… " : "") + text.slice(at, at + 2 * AROUND) + (at + 2 * AROUND < text.length ? " …" : "");
  };
  const show = (one, first) => {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
    link.href = one.href;
    link.textContent = one.heading && one.heading !== one.page ? `${one.heading} · ${one.page}` : one.page;
    text.textContent = excerpt(one.text, first);
    item.append(link, text);
    return item;
  };
  const search = () => {
    const asked = words.value.toLowerCase().split(/\s+/).filter(word => word);
    const scored = asked.length === 0 ? [] : index.map(one => {
      const scores = asked.map(word => score(one, word));
      return { one, score: scores.some(each => each === 0) ? 0 : scores.reduce((sum, each) => sum + each, 0) };
    }).filter(each => each.score > 0).sort((a, b) => b.score - a.score);
    found.replaceChildren(...scored.slice(0, SHOWN).map(each => show(each.one, asked[0])));
    const more = scored.length > SHOWN ? `, the best ${SHOWN} below` : "";
    count.textContent = asked.length === 0 ? "" : `${scored.length} ${scored.length === 1 ? "place" : "places"}${more}`;
    history.replaceState(null, "", asked.length === 0 ? location.pathname : `#${encodeURIComponent(words.value)}`);
  };
  words.value = decodeURIComponent(location.hash.slice(1));
  words.addEventListener("input", search);
  search();
  words.focus();
})();
