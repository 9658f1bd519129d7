import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { FOR_ACTORS } from '../session/warning-strip.tsx'
import { Button } from '../ui/button.tsx'
import { AgentDot } from './agent-dot.tsx'
import type { AgentState, TaskItem } from './agent-view.ts'

/** What became of a prompt, below it: one line that opens to the trace. The line and the button live: an open page puts new ones in their
 *  places, and leaves the fold between them as it is. */
export const TaskFold = ({ task }: { task: TaskItem }) => (
  <div className="mt-1.5 mb-1 flex items-start gap-2">
    {task.traced ? (
      <details
        className="group/task min-w-0 flex-1 rounded-md border bg-card"
        data-trace={`/sessions/${task.session}/tasks/${task.sequence}`}
      >
        <summary className="flex cursor-pointer list-none items-start gap-2 px-2.5 py-1.5 [&::-webkit-details-marker]:hidden hover:bg-accent/50">
          <TaskLine task={task} />
          <Icon
            name="chevron"
            className="mt-0.5 ml-auto size-3.5 shrink-0 text-muted-foreground transition-transform group-open/task:rotate-90"
          />
        </summary>
        <div className="border-t">
          <ol id={`trace-${task.sequence}`} />
          <p className="px-3 py-1.5 text-[12px]">
            <TextLink quiet href={`/sessions/${task.session}/turns/${task.turn}`} className="text-muted-foreground">
              All that it did, on a page of its own
            </TextLink>
          </p>
        </div>
      </details>
    ) : (
      <div className="min-w-0 flex-1 rounded-md border bg-card px-2.5 py-1.5">
        <TaskLine task={task} />
      </div>
    )}
    <TaskAct task={task} />
  </div>
)

const STATES: Record<TaskItem['status'], AgentState> = {
  queued: 'ready',
  running: 'running',
  completed: 'ready',
  failed: 'failed',
  interrupted: 'asks',
}

/** The line itself. */
export const TaskLine = ({ task }: { task: TaskItem }) => (
  <span
    id={`t${task.sequence}`}
    data-running={task.status === 'running' ? '' : undefined}
    className="block min-w-0 flex-1 text-[12.5px] leading-4.5 text-muted-foreground"
  >
    <span className="flex min-w-0 items-center gap-2">
      {task.status === 'completed' ? (
        <Icon name="flag" className="size-3 shrink-0" />
      ) : (
        <AgentDot said state={task.asks ? 'asks' : STATES[task.status]} className="mx-0.5" />
      )}
      <span className="min-w-0 truncate tabular-nums">
        <b className={cn('font-medium', task.status === 'failed' ? 'text-destructive-foreground' : 'text-foreground')}>{task.said}</b>
        {task.details.map((detail, i) => (
          <span key={i} className={cn(detail.includes(': ') && task.status === 'running' && 'font-mono text-[12px]')}>
            {' · '}
            {escapeInvisible(detail)}
          </span>
        ))}
      </span>
    </span>
    {task.problem && <span className="mt-1 block text-foreground wrap-anywhere">{escapeInvisible(task.problem)}</span>}
    {task.asks && (
      <span className="mt-1 block rounded-md border border-warn/40 bg-warn/8 px-2.5 py-1.5 whitespace-pre-wrap text-foreground wrap-anywhere">
        {escapeInvisible(task.asks)}
        <span className="mt-1 block text-[12px] text-warn-foreground">The next prompt is the answer.</span>
      </span>
    )}
  </span>
)

/** What a person can do about a task. Sent to all viewers alike: it shows to those who may act. */
export const TaskAct = ({ task }: { task: TaskItem }) => (
  <form
    id={`a${task.sequence}`}
    method="post"
    action={`/sessions/${task.session}/interrupt`}
    hx-post={`/sessions/${task.session}/interrupt`}
    hx-swap="none"
    hx-disable="find button"
    hidden={!task.interruptible}
    className={`shrink-0 ${FOR_ACTORS}`}
  >
    {task.interruptible && (
      <>
        <input type="hidden" name="task" value={task.sequence} />
        <Button type="submit" variant="outline" size="sm" className="h-8 max-sm:h-11 max-sm:px-3.5">
          Interrupt
        </Button>
      </>
    )}
  </form>
)
