import { useId, type ReactNode } from 'react';
import lists from '../../../ui/lists.module.css';
import { numberText } from '../../../ui/numbers.js';

interface CountTableProps {
  readonly title: string;
  /** Of the columns: a name, then figures. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly [string, ...number[]])[];
  readonly empty: string;
}

/** A table of names with their figures. */
export const CountTable = ({ title, head, rows, empty }: CountTableProps): ReactNode => {
  const id = useId();
  const [name, ...figures] = head;
  return (
    <section className={lists['section']} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div className="card">
        {rows.length === 0 ? (
          <p className={`muted ${lists['row'] ?? ''}`}>{empty}</p>
        ) : (
          <table className={lists['table']} aria-labelledby={id}>
            <thead>
              <tr>
                <th scope="col">{name}</th>
                {figures.map((figure) => (
                  <th key={figure} scope="col" className={lists['number']}>
                    {figure}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([label, ...counts]) => (
                <tr key={label}>
                  <td>{label}</td>
                  {counts.map((count, column) => (
                    <td key={figures[column]} className={lists['number']}>
                      {numberText(count)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
};
