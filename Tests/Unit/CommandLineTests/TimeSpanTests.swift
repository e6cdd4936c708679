@testable import CommandKit
import Testing

@Suite("Times on the command line")
struct TimeSpanTests {
    @Test(arguments: [("250us", Duration.microseconds(250)), ("1.5s", .milliseconds(1500)), ("2m", .seconds(120)), ("3", .seconds(3))])
    func areRead(text: String, duration: Duration) { #expect(TimeSpan(argument: text)?.duration == duration) }

    @Test(arguments: ["", "s", "-1s", "1x", "999999999999s", "99999999999999999999999999m", "1..2s", "inf"])
    func thatAreNoneAreRefused(text: String) { #expect(TimeSpan(argument: text) == nil) }
}
