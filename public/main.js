// The scripts that all pages load, in the order in which they run: `bun run styles` makes one file of them, public/app.js. What one kind of page
// uses alone, it loads beside (components/site/shell.tsx).
import './htmx.js'
import './parley.js'
import './theme.js'
import './tabs.js'
import './live.js'
import './forms.js'
