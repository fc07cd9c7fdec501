-- Requests more than one page: wrk … -s wrk-pages.lua <url> -- files <count>
--                              or wrk … -s wrk-pages.lua <url> -- misses <prefix>
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "wrk-report.lua")

local FILES, MISSES_IN_5 = {}, 4
local kind, number, prefix, page = nil, 0, nil, nil

function init(args)
  kind = args[1]
  if kind == "files" then
    for file = 0, tonumber(args[2]) - 1 do
      FILES[#FILES + 1] = wrk.format("GET", string.format("/files/%05d.html", file))
    end
    math.randomseed(1)
  else
    prefix = args[2]
    page = wrk.format()
  end
end

function request()
  if kind == "files" then return FILES[math.random(#FILES)] end
  number = number + 1
  if number % 5 >= MISSES_IN_5 then return page end
  return wrk.format("GET", string.format("%s%08d.html", prefix, number))
end
