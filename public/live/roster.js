// Counts the teams that are out of sight at the roster's end, on a button that scrolls to them.
import { $ } from './elements.js'

export const countTeams = () => {
  const line = $('teams')
  const [roster, more] = line.children
  const show = () => {
    const end = roster.scrollLeft + roster.clientWidth
    const hidden = [...roster.children].filter((team) => team.offsetLeft + team.offsetWidth > end + 1).length
    line.classList.toggle('cut', hidden > 0)
    more.hidden = hidden === 0
    more.textContent = `+${hidden}`
  }
  more.addEventListener('click', () => roster.scrollBy({ left: roster.clientWidth / 2, behavior: 'smooth' }))
  roster.addEventListener('scroll', show, { passive: true })
  new ResizeObserver(show).observe(line)
  new MutationObserver(show).observe(roster, { childList: true, subtree: true, characterData: true })
}
