import type { ChangeClientRequest, CreateClientRequest } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { saveAs } from '../../api/download.js';
import { clientKeys } from './keys.js';

export const useCreate = () => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (asked: CreateClientRequest) => doorstep.clients.create(asked),
    onSettled: () => void client.invalidateQueries({ queryKey: clientKeys.all }),
  });
};

export const useChange = (clientId: string) => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (changes: ChangeClientRequest) => doorstep.clients.update(clientId, changes),
    onSettled: () => void client.invalidateQueries({ queryKey: clientKeys.all }),
  });
};

/** Whoever calls it leads away from the person's page, then forgets them here too. */
export const useErase = (clientId: string) => {
  const client = useQueryClient();
  const erase = useMutation({ mutationFn: () => doorstep.clients.erase(clientId) });
  const forget = (): void => {
    client.removeQueries({ queryKey: clientKeys.client(clientId) });
    void client.invalidateQueries({ queryKey: clientKeys.lists });
  };
  return { ...erase, forget };
};

/** Saves everything that is kept about the client as a JSON file. */
export const useExportClient = (clientId: string) =>
  useMutation({
    mutationFn: async () => {
      const all = await doorstep.clients.export(clientId);
      saveAs(new Blob([JSON.stringify(all, null, 2)], { type: 'application/json' }), `client-${clientId}.json`);
    },
  });
