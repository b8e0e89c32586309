-- wrk's requests, by the environment:
--   PREFIX    what stands before the path: http://ORIGIN for a forward proxy, nothing for a reverse one
--   ORIGIN    host:port for the Host field
--   URL_PATH  the path; alone it is the one URL
--   CYCLE     a file of numbers, one a line: URL_PATH and each of them in turn, over and over
--   START     always-new URLs: URL_PATH and START + 1, START + 2, ...
local head = "GET " .. (os.getenv("PREFIX") or "") .. os.getenv("URL_PATH")
local tail = " HTTP/1.1\r\nHost: " .. os.getenv("ORIGIN") .. "\r\n\r\n"

if os.getenv("START") then
    local number = tonumber(os.getenv("START"))
    function request()
        number = number + 1
        return head .. string.format("%d", number) .. tail
    end
elseif os.getenv("CYCLE") then
    local made, series, turn = {}, {}, 0
    for number in io.lines(os.getenv("CYCLE")) do
        made[number] = made[number] or head .. number .. tail
        series[#series + 1] = made[number]
    end
    function request()
        turn = turn % #series + 1
        return series[turn]
    end
else
    local only = head .. tail
    function request() return only end
end
