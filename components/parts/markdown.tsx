import type { ComponentProps } from 'react'
import { renderMarkdown } from '../../src/markdown/render.ts'
import { cn } from './cn.ts'

/** A text of agents or people, as a feed shows it. */
export const Markdown = ({ text, className, ...props }: ComponentProps<'div'> & { text: string }) => (
  <div className={cn('prose prose-sm md-feed', className)} {...props} dangerouslySetInnerHTML={{ __html: renderMarkdown(text) }} />
)
