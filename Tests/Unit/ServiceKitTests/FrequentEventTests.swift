import Foundation
import Logging
import ServiceKit
import Testing

/// Lines without a logger's table look like those with it.
@Suite struct FrequentEventTests {
    @Test func aLineIsTheLoggers() throws {
        let lines = LogLines()
        let logger = lines.logger("gateway", level: .info)
        let event = try #require(FrequentEvent("request", of: logger))
        for value in ["GET", "", #"a "quoted" \ text"#, "é\n\u{1}"] {
            event.write { fields in
                fields.add("method", value)
                fields.add("status", -200)
            }
            logger.info("request", metadata: ["method": "\(value)", "status": "-200"])
        }
        let parts = lines.all.map { $0.drop { $0 != "," } }
        #expect(parts.count == 8)
        for number in stride(from: 0, to: 8, by: 2) { #expect(parts[number] == parts[number + 1]) }
        for line in lines.all { #expect(line.hasPrefix(#"{"time":""#) && (try? JSONSerialization.jsonObject(with: Data(line.utf8))) != nil) }
    }

    @Test func aLoggerThatWritesNoSuchLinesHasNone() {
        let lines = LogLines()
        #expect(FrequentEvent("request", of: lines.logger(level: .notice)) == nil)
        #expect(FrequentEvent("request", level: .error, of: lines.logger(level: .notice)) != nil)
        #expect(FrequentEvent("request", of: Logger(label: "other", factory: { _ in SwiftLogNoOpLogHandler() })) == nil)
        var logger = lines.logger()
        logger[metadataKey: "copy"] = "2"
        #expect(FrequentEvent("request", of: logger) == nil)
    }
}
