import Clocks
import ContractRuntime
import Foundation
import Logging
import ManualClocks
import Testing

@testable import ServiceKit

@Suite("JSON logs")
struct JsonLogHandlerTests {
    private static let clock = ManualClock(Timestamp(milliseconds: 1_930_384_800_007))

    @Test("an event is one line of JSON with its fields, sorted")
    func oneLine() {
        let lines = LogLines()
        var logger = lines.logger("config", clock: Self.clock)
        logger[metadataKey: "peer"] = "gateway"
        logger.info("rpc.listening", metadata: ["address": "127.0.0.1:7001", "list": ["a", "b"], "map": ["k": "v"]])
        let head = #"{"time":"2031-03-04T10:00:00.007Z","level":"info","service":"config","event":"rpc.listening","#
        let fields = #""address":"127.0.0.1:7001","list":["a","b"],"map":{"k":"v"},"peer":"gateway"}"#
        #expect(lines.all == [head + fields + "\n"])
    }

    @Test("numbers are numbers where a field is one, and text stays text")
    func numbers() {
        let lines = LogLines()
        let values = ["0", "-1", "12", "1.5", "", "-", "01", "1.", ".5", "1e3", "--1", "+1", "٣", "123456789012345678901"]
        for value in values { lines.logger("config", clock: Self.clock).info("e", metadata: ["port": "\(value)"]) }
        #expect(lines.all.map { $0.contains(#""port":""#) } == [false, false, false, false] + Array(repeating: true, count: 10))
        lines.logger("config", clock: Self.clock).info("e", metadata: ["zip": "90210", "version": "7", "status": .stringConvertible(200)])
        #expect(lines.all.last?.hasSuffix(#""status":200,"version":"7","zip":"90210"}"# + "\n") == true)
    }

    @Test("whatever a field holds, the line stays one line of valid JSON")
    func escapes() throws {
        let lines = LogLines()
        let nasty = "a\"b\\c\nd\u{0}e\u{1f}f\u{7f}é😀"
        lines.logger().warning("odd", metadata: ["field": "\(nasty)", "event": "shadow"])
        let line = try #require(lines.all.first)
        #expect(line.filter { $0 == "\n" }.count == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        #expect(object["field"] == nasty)
        #expect(object["event"] == "odd")
        #expect(object["event_"] == "shadow")
    }

    @Test("a flag is a boolean of JSON, also within others; a text that looks like one is a text")
    func flags() throws {
        let lines = LogLines()
        lines.logger().info(
            "flags", metadata: ["on": .stringConvertible(true), "text": "true", "list": [.stringConvertible(false), "false"]])
        let line = try #require(lines.all.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["on"] as? Bool == true && object["text"] as? String == "true" && line.contains(#""list":[false,"false"]"#))
    }

    @Test("lines below the level are not written")
    func levels() {
        let lines = LogLines()
        let logger = lines.logger(level: .warning)
        logger.info("quiet")
        logger.error("loud")
        #expect(lines.all.count == 1)
    }

    @Test("a logger that follows a call has its trace on each line")
    func followsTrace() {
        let lines = LogLines()
        let context = CallContext(trace: TraceContext(traceHigh: 1, traceLow: 2, span: 3))
        lines.logger().following(context).info("here")
        #expect(lines.field("trace_id", of: "here") == "00000000000000010000000000000002")
    }

    @Test(
        "times are ISO 8601 in UTC",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (1_709_210_096_789, "2024-02-29T12:34:56.789Z"),
        ])
    func times(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).iso8601 == text)
    }
}
