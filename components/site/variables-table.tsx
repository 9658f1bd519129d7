import { Badge } from '../ui/badge.tsx'
import { Table, TableCell, TableHead } from '../ui/table.tsx'

export interface VariableRow {
  name: string
  /** undefined: not set. A secret's is the word "set". */
  value: string | undefined
  source: 'environment' | 'default' | 'saved'
  about: string
}

export interface VariableGroup {
  id: string
  title: string
  about: string
  variables: VariableRow[]
}

const BADGES = { default: 'outline', environment: 'live', saved: 'secondary' } as const

export const VariablesTable = ({ title, variables }: VariableGroup) => (
  <div className="thin-scroll overflow-x-auto" tabIndex={0} role="region" aria-label={`Variables: ${title}`}>
    <Table className="sm:table-fixed">
      <thead className="max-sm:sr-only">
        <tr>
          <TableHead className="sm:w-3/5">Variable</TableHead>
          <TableHead className="px-2">Value</TableHead>
          <TableHead className="sm:w-32">Source</TableHead>
        </tr>
      </thead>
      <tbody className="divide-y">
        {variables.map(({ name, value, source, about }) => (
          <tr key={name} className="max-sm:flex max-sm:flex-wrap max-sm:items-center max-sm:gap-y-1.5 max-sm:py-2.5">
            <TableCell className="max-sm:basis-full max-sm:py-0">
              <code className="font-mono text-[12px] font-medium">{name}</code>
              <p className="mt-0.5 text-[12px] text-muted-foreground">{about}</p>
            </TableCell>
            <TableCell className="max-sm:flex-1 max-sm:py-0 sm:px-2">
              {value === undefined || value === '' ? (
                <span className="text-muted-foreground">unset</span>
              ) : (
                <code className="font-mono text-[12px] break-all">{value}</code>
              )}
            </TableCell>
            <TableCell className="max-sm:py-0">
              <Badge variant={BADGES[source]}>{source}</Badge>
            </TableCell>
          </tr>
        ))}
      </tbody>
    </Table>
  </div>
)
