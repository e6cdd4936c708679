import Clocks
import Foundation
import Testing

@testable import SamlProfile

struct InstantTests {
    @Test(
        "moments are read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2031-03-04T10:00:05Z", 1_930_384_805_000), ("2031-03-04T10:00:05.1Z", 1_930_384_805_100),
            ("2031-03-04T10:00:05.123456789Z", 1_930_384_805_123), ("2024-02-29T23:59:59.99Z", 1_709_251_199_990),
            ("2000-02-29T00:00:00Z", 951_782_400_000), ("2031-03-04T10:00:05+00:00", 1_930_384_805_000),
            ("2031-03-04T10:00:05-00:00", 1_930_384_805_000),
            (" \n2031-03-04T10:00:05.12345678901234567890Z\t", 1_930_384_805_123), ("2031-03-03T24:00:00Z", 1_930_348_800_000),
        ] as [(String, Int64)])
    func reads(text: String, milliseconds: Int64) {
        #expect(SamlInstant.parse(text) == Timestamp(milliseconds: milliseconds))
    }

    @Test(
        "other forms are not",
        arguments: [
            "", "2031-03-04", "2031-03-04T10:00:05", "2031-03-04T10:00:05z", "2031-03-04T10:00:05+02:00", "2031-03-04 10:00:05Z",
            "2031-3-4T10:00:05Z",
            "2031-02-29T10:00:05Z", "2100-02-29T10:00:05Z", "2031-00-04T10:00:05Z", "2031-03-32T10:00:05Z", "2031-03-04T24:00:01Z",
            "2031-03-04T24:00:00.1Z",
            "2031-03-04T10:60:05Z",
            "2031-03-04T10:00:60Z", "2031-03-04T10:00:05.Z", "2031-03-04T10:00:05.12x4Z", "-031-03-04T10:00:05Z", "2031-03-04T10:00:05,1Z",
            "2031-03-04T10:00:051Z",
        ])
    func refuses(text: String) {
        #expect(SamlInstant.parse(text) == nil)
    }

    @Test(
        "XML Schema part 2 §3.2.7: an offset says which moment it is, in documents that may have one",
        arguments: [
            ("2020-01-01T00:00:00+02:00", 1_577_829_600), ("2020-01-01T00:00:00-05:30", 1_577_856_600),
            ("2020-01-01T00:00:00.000+14:00", 1_577_786_400),
            ("2020-01-01T00:00:00Z", 1_577_836_800),
        ] as [(String, Int64)])
    func readsOffsets(text: String, seconds: Int64) {
        #expect(SamlInstant.parseAnyOffset(text) == Timestamp(seconds: seconds))
    }

    @Test(
        "what is no moment anywhere",
        arguments: [
            "2020-01-01T00:00:00", "2020-01-01", "2020-01-01T00:00:00+2:00", "2020-01-01T00:00:00+0200", "2020-01-01T00:00:00+14:01",
            "2020-01-01T00:00:00+02:60", "2020-01-01T00:00:00+02:00Z", "2020-01-01T00:00:00 +02:00", "20200101T000000Z", "tomorrow", "", " ",
        ])
    func refusesAnywhere(text: String) {
        #expect(SamlInstant.parseAnyOffset(text) == nil)
    }

    @Test("SAML core §1.3.3: an offset, a missing zone and another form are told apart")
    func tellsForms() {
        #expect(SamlInstant.problem("2031-03-04T10:00:05+02:00")?.contains("offset from UTC") == true)
        #expect(SamlInstant.problem("2031-03-04T10:00:05")?.contains("no time zone") == true)
        #expect(SamlInstant.problem("04.03.2031")?.contains("xs:dateTime") == true)
        #expect(SamlInstant.problem("2031-03-04T10:00:05-00:00") == nil)
    }

    @Test("what is written is read again, and agrees with Foundation")
    func agreesWithFoundation() {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        for day in stride(from: Int64(0), to: 40_000, by: 37) {
            let moment = Timestamp(milliseconds: day * 86_400_000 + day * 7_919_317 % 86_400_000)
            let text = SamlInstant.format(moment)
            #expect(SamlInstant.parse(text) == moment)
            #expect(text == formatter.string(from: Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000)))
        }
    }
}
