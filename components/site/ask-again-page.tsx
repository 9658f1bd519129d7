import type { Script } from '../scripts.ts'
import type { Frame } from './shell.tsx'

const RELOADS: Script = 'again.js'

/** Has the browser ask for the same address again, before anything is painted. Without script its fragment is lost. */
export const AskAgainPage = ({ frame: { theme, path, hrefOf } }: { frame: Frame }) => (
  <html lang="en">
    <head>
      <meta charSet="utf-8" />
      <title>Parley</title>
      <meta name="color-scheme" content={theme === 'system' ? 'light dark' : theme} />
      <script src={hrefOf(RELOADS)} />
      <noscript>
        <meta httpEquiv="refresh" content={`0; url=${path}`} />
      </noscript>
    </head>
    <body>
      <a href={path}>Continue</a>
    </body>
  </html>
)
