import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { doorstep } from '../../api/doorstep.js';
import { saveAs } from '../../api/download.js';
import type { AuditFilter } from './filter.js';

export type ExportFormat = 'csv' | 'ndjson';

/**
 * Saves the whole audit of a filter as a file. The browser keeps it, on disk when it is large, until
 * the last byte has come: a file that was cut off is never saved.
 */
export const useExport = () => {
  const [bytes, setBytes] = useState(0);
  const mutation = useMutation({
    mutationFn: async ({ format, filter }: { readonly format: ExportFormat; readonly filter: AuditFilter }) => {
      setBytes(0);
      const stream = await doorstep.audit.export(format, filter);
      const counter = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          setBytes((before) => before + chunk.byteLength);
          controller.enqueue(chunk);
        },
      });
      const answer = new Response(stream.pipeThrough(counter), {
        headers: { 'content-type': format === 'csv' ? 'text/csv' : 'application/x-ndjson' },
      });
      saveAs(await answer.blob(), `audit.${format}`);
    },
  });
  return { ...mutation, bytes };
};
