// htmx as a global: the scripts beside this one find it there.
import htmx from 'htmx.org/dist/htmx.esm.min.js'

globalThis.htmx = htmx
