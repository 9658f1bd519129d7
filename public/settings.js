// The settings page: marks the section that is being read in the list of sections.
const links = [...document.querySelectorAll('#sections a')]
if (links.length > 0) {
  const mark = () => {
    const atTheEnd = innerHeight + scrollY > document.documentElement.scrollHeight - 2
    const begun = links.findLast((link) => document.querySelector(link.hash).getBoundingClientRect().top < innerHeight / 3)
    const current = atTheEnd ? links.at(-1) : (begun ?? links[0])
    for (const link of links) link.ariaCurrent = link === current ? 'true' : null
  }
  addEventListener('scroll', mark, { passive: true })
  mark()
}
