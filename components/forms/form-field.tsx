import type { ComponentProps } from 'react'
import { Input } from '../ui/input.tsx'
import { Label } from '../ui/label.tsx'
import { Select } from '../ui/select.tsx'
import { Textarea } from '../ui/textarea.tsx'

/** Why a form was not applied; `field` names the field to correct. */
export interface Problem {
  field?: string | undefined
  text: string
  /** Signing in helps; in another tab, so that nothing typed is lost. */
  signIn?: boolean
}

type Control =
  | ({ rows?: undefined; options?: undefined } & ComponentProps<'input'>)
  | ({ rows: number; options?: undefined } & ComponentProps<'textarea'>)
  | ({ rows?: undefined } & ComponentProps<typeof Select>)
type Props = { name: string; label: string; hint?: string; problem?: Problem | undefined } & Control

/** A labelled field with its hint and its problem: a textarea with `rows`, a select with `options`. Its id is its name, where that stands once
 *  on the page. */
export const FormField = ({ label, hint, problem, ...control }: Props) => {
  const { name, id = name } = control
  const wrong = problem?.field === name
  const described = [hint && `${id}-hint`, wrong && `${id}-problem`].filter(Boolean).join(' ')
  const aria = { id, 'aria-invalid': wrong || undefined, 'aria-describedby': described || undefined }
  return (
    <div className="grid min-w-0 content-start gap-1">
      <Label htmlFor={id}>{label}</Label>
      {control.options ? (
        <Select {...aria} {...control} />
      ) : control.rows === undefined ? (
        <Input {...aria} {...control} />
      ) : (
        <Textarea {...aria} {...control} />
      )}
      {hint && (
        <p id={`${id}-hint`} className="text-[12px] text-muted-foreground">
          {hint}
        </p>
      )}
      <FieldProblem id={id} {...{ name, problem }} />
    </div>
  )
}

/** What is wrong with the field of this name, if the problem is about it. */
export const FieldProblem = ({ name, id = name, problem }: { name: string; id?: string; problem: Problem | undefined }) =>
  problem?.field === name ? (
    <p id={`${id}-problem`} role="alert" className="text-[12.5px] text-destructive-foreground">
      {problem.text}
    </p>
  ) : null
