-- Run by contract_neovim.py in the folder of a vault: follows a link, hovers, and renames a note, through `zkchat lsp`.
local vault, found = vim.fn.getcwd(), {}
local command = vim.fn.json_decode(vim.env.ZKCHAT_LSP)
local evergreen = vault .. '/Ideas/Evergreen notes.md'

local id = vim.lsp.start_client({ name = 'zkchat', cmd = command, root_dir = vault })

local function open(file)
  vim.cmd('edit ' .. vim.fn.fnameescape(file))
  vim.lsp.buf_attach_client(0, id)
end

local function ask(method, more)
  local params = vim.tbl_extend('force', vim.lsp.util.make_position_params(0, 'utf-16'), more or {})
  local answer = vim.lsp.buf_request_sync(0, method, params, 30000)
  return answer and answer[id] and answer[id].result
end

open(evergreen)
vim.wait(30000, function()
  local client = vim.lsp.get_client_by_id(id)
  return client and client.initialized
end)
vim.fn.search([[\[\[Naming things#Names]])
found.hover = ask('textDocument/hover').contents.value
ask('textDocument/definition')
vim.lsp.buf.definition()
vim.wait(30000, function() return vim.fn.expand('%:t') == 'Naming things.md' end)
found.definition = { vim.fn.expand('%:t'), vim.fn.line('.') }

open(evergreen)
vim.api.nvim_buf_set_lines(0, -1, -1, false, { '🌱草 [[Evergren notes]] end' })
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end)
local wrong = vim.diagnostic.get(0)[1]
found.diagnostic = { wrong.message, wrong.col, wrong.end_col }
vim.api.nvim_buf_set_lines(0, -2, -1, false, {})
vim.cmd('write')

vim.fn.cursor(1, 1)
vim.fn.search('^# Evergreen')
found.references = #ask('textDocument/references', { context = { includeDeclaration = false } })
vim.lsp.util.apply_workspace_edit(ask('textDocument/rename', { newName = 'Immergrün 🌲' }), 'utf-16')
vim.cmd('wall')
found.file = vim.fn.expand('%:t')
vim.fn.writefile({ vim.fn.json_encode(found) }, vim.env.ZKCHAT_FOUND)
vim.cmd('qa!')
