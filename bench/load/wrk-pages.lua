-- Says what is requested. After `--` comes the way:
--   page                    the URL, over and over
--   files <count>           the pages /files/00000.html and on, in random order
--   misses <prefix>         in every fifth request the URL, and in all others a page that was not requested before
--   mixed <count> <prefix>  of twenty requests: twelve for the URL, four for files, two for new pages, two for a page
--                           that must not be stored
local files = {}
local prefix, page, uncached
local number = 0

local function writeFiles(count)
  for file = 0, count - 1 do
    files[#files + 1] = wrk.format("GET", string.format("/files/%05d.html", file))
  end
  math.randomseed(1)
end

local function newPage()
  return wrk.format("GET", string.format("%s%08d.html", prefix, number))
end

local requests = {}

function requests.files()
  return files[math.random(#files)]
end

function requests.misses()
  return number % 5 == 4 and page or newPage()
end

function requests.mixed()
  local turn = number % 20
  if turn < 12 then return page end
  if turn < 16 then return files[math.random(#files)] end
  if turn < 18 then return newPage() end
  return uncached
end

function init(args)
  local kind = args[1]
  -- wrk sends a request that never changes without asking for it again.
  if kind == "page" then return end
  page = wrk.format()
  uncached = wrk.format("GET", "/uncached/1000.html")
  if kind == "misses" then
    prefix = args[2]
  else
    writeFiles(tonumber(args[2]))
    prefix = args[3]
  end
  function request()
    number = number + 1
    return requests[kind]()
  end
end

-- Called once, at the end: wrk's own text rounds its figures.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"failures":%d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
