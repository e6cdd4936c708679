import Clocks
import OutboundHttp
import Testing

@testable import BridgeClient

/// Upstream's clock, its traces, and a cluster's name on the way to another.
@Suite struct ClockAndViaTests {
    private static func answer(_ headers: [(name: String, value: String)] = [], status: Int = 200, body: String = "{}") -> OutboundAnswer {
        OutboundAnswer(status: status, headers: headers, body: Array(body.utf8))
    }

    @Test("bridge B103: upstream's time is read of its Date, and of nothing that is none")
    func readsDates() {
        let now = Timestamp(seconds: 784_111_777)
        #expect(UpstreamClock.offset(Self.answer([("Date", "Sun, 06 Nov 1994 08:49:37 GMT")]), now: now) == .zero)
        #expect(UpstreamClock.offset(Self.answer([("date", "Sun, 06 Nov 1994 08:54:37 GMT")]), now: now) == .seconds(300))
        #expect(UpstreamClock.moment("Thu, 29 Feb 2024 23:59:60 GMT") == Timestamp(seconds: 1_709_251_200))
        #expect(UpstreamClock.moment("Thu, 01 Jan 1970 00:00:00 GMT") == Timestamp(seconds: 0))
        for text in [
            "", "yesterday", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
        ] { #expect(UpstreamClock.moment(text) == nil, "\(text)") }
        #expect(UpstreamClock.offset(Self.answer(), now: now) == nil)
    }

    @Test("bridge B103: what upstream says of times is moved by how wrong its clock is")
    func movesTimes() throws {
        let profiles = try BridgedProfile.all(Self.answer(body: #"{"profiles":{"M":{"notBefore":1000000,"notAfter":"2000000","type":"regular"}}}"#))
        let moved = try #require(profiles.earlier(by: .seconds(300)).first)
        #expect(moved.start == Timestamp(milliseconds: 700_000) && moved.end == Timestamp(milliseconds: 1_700_000) && moved.mvpd == "M")
        let signIn = try BridgedSignIn(Self.answer(body: #"{"actionName":"authenticate","url":"/x","code":"ABC","notAfter":"900000"}"#))
        #expect(signIn.earlier(by: .seconds(-100)) == .browser(path: "/x", code: "ABC", end: Timestamp(milliseconds: 1_000_000)))
        #expect(BridgedSignIn.done.earlier(by: .seconds(5)) == .done)
        let text =
            #"{"decisions":[{"resource":"R","authorized":true,"notAfter":9000,"token":{"serializedToken":"t","notBefore":1000,"notAfter":5000}}]}"#
        let decision = try BridgedDecision(Self.answer(body: text), resource: "R").earlier(by: .seconds(1))
        #expect(decision.end == Timestamp(milliseconds: 8000) && decision.token?.end == Timestamp(milliseconds: 4000))
        #expect(decision.token?.serialized == "t" && decision.outcome == .permit)
    }

    @Test("bridge B103: a cluster knows its own name among those on the way, and no other")
    func knowsItself() {
        let (own, other) = (BridgeVia(origin: "https://tv.example"), BridgeVia(origin: "https://tv.example:8443"))
        #expect(own == BridgeVia(origin: "https://TV.example") && own != other)
        #expect(own.header.hasPrefix("1.1 boxoffice-") && own.header.utf8.count == 30)
        #expect(own.stands(in: ["1.1 proxy, \(own.header) (a comment)"]) && own.stands(in: ["1.0 x", "HTTP/2 \(own.pseudonym.uppercased())"]))
        for values in [
            [], ["1.1 proxy"], [other.header], [own.pseudonym], ["1.1 \(own.pseudonym)0"], [String(repeating: "1.1 x,", count: 2000) + own.header],
        ] {
            #expect(!own.stands(in: values), "\(values.first?.prefix(60) ?? "")")
        }
    }

    @Test("bridge B107: an error's trace is told, an answer's id else, and no control character")
    func findsTraces() {
        #expect(UpstreamTrace.of(Self.answer(status: 500, body: #"{"code":"internal_server_error","trace":"t-1"}"#)) == "t-1")
        #expect(UpstreamTrace.of(Self.answer([("Adobe-Request-Id", "r-1")], status: 503, body: "<html>")) == "r-1")
        #expect(UpstreamTrace.of(Self.answer([("Adobe-Request-Id", "r-1")], body: #"{"trace":"t"}"#)) == "r-1", "only errors name one")
        #expect(UpstreamTrace.of(Self.answer(status: 400, body: #"{"trace":"a\nb"}"#)).isEmpty && UpstreamTrace.of(Self.answer()).isEmpty)
        #expect(UpstreamTrace.of(Self.answer(status: 400, body: #"{"trace":"\#(String(repeating: "x", count: 200))"}"#)).utf8.count == 128)
    }

    @Test("bridge §15.3: what a code stands for is read with what was understood of the device")
    func readsSessions() throws {
        let text = #"{"existingParameters":{"serviceProvider":"SP","mvpd":"M"},"device":{"model":"box","operatingSystem":{"name":"Roku OS"},"n":1}}"#
        let view = try BridgedSessionView(Self.answer(body: text))
        #expect(view.serviceProvider == "SP" && view.mvpd == "M" && view.device == ["model": "box", "operatingSystem.name": "Roku OS"])
        for text in ["{}", #"{"existingParameters":{}}"#, #"{"existingParameters":{},"device":[]}"#] {
            #expect(throws: BridgeFailure.self) { try BridgedSessionView(Self.answer(body: text)) }
        }
    }
}
