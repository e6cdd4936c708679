import Clocks
import Contracts
import Foundation
import OutboundHttp
import Testing

@testable import AuthenticationCore
@testable import AuthenticationUpstreams

/// What an operator reads of a check of an upstream (bridge §15.3).
@Suite struct UpstreamCheckTests {
    private func check(_ bridge: BridgeRig) async throws -> [UpstreamCheckStep] {
        let request = CheckUpstreamRequest(upstream: "vendor", requestor: "CHAN7", part: .client)
        return try await bridge.rig.operations.checkUpstream(request, context: bridge.rig.context).steps
    }

    @Test("each step says what was expected and what was seen")
    func passes() async throws {
        let steps = try await check(BridgeRig())
        #expect(steps.map(\.step) == [1, 2, 3, 4] && steps.allSatisfy { $0.outcome == .passed && !$0.expected.isEmpty && !$0.seen.isEmpty })
    }

    @Test("an address that redirects, or has a server that fails, is told with its status", arguments: [302, 503])
    func wrongAddress(status: Int) async throws {
        let bridge = try BridgeRig()
        bridge.upstream.change { $0.answers["/configuration"] = OutboundAnswer(status: status) }
        let first = try #require(try await check(bridge).first)
        #expect(first.step == 1 && first.outcome == .failed && first.seen.hasPrefix("\(status)") && !first.advice.isEmpty)
    }

    @Test("a clock that is ahead of ours, or behind it, is told", arguments: [(600, "600 s ahead"), (-600, "600 s behind")])
    func clocks(seconds: Int64, words: String) async throws {
        let bridge = try BridgeRig()
        let formatter = DateFormatter()
        (formatter.locale, formatter.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(identifier: "GMT"))
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let date = formatter.string(from: Date(timeIntervalSince1970: Double(t0.seconds + seconds)))
        let body = Array(#"{"access_token":"t-1","expires_in":31536000}"#.utf8)
        bridge.upstream.change { $0.answers["/token"] = OutboundAnswer(status: 201, headers: [("date", date)], body: body) }
        let step = try #require(try await check(bridge).first { $0.step == 3 })
        #expect(step.outcome == .failed && step.seen.contains(words) && step.advice.contains("time server"), "\(step)")
    }

    @Test("who signed in for the check is decided about twice: the second answer is to be that of the first")
    func decidesAgain() async throws {
        let bridge = try BridgeRig()
        func check(_ part: UpstreamCheckPart, _ ticket: String = "") async throws -> UpstreamCheck {
            let request = CheckUpstreamRequest(upstream: "vendor", requestor: "CHAN7", part: part, ticket: ticket)
            return try await bridge.rig.operations.checkUpstream(request, context: bridge.rig.context)
        }
        let begun = try await check(.signIn)
        bridge.somebodySignsIn()
        bridge.upstream.change { $0.answers["/decisions/authorize/CoastCable"] = ScriptedUpstream.permit("\((t0 + .seconds(86_400)).milliseconds)") }
        let ended = try await check(.signedIn, begun.ticket)
        #expect(bridge.upstream.calls.count { $0.path.hasSuffix("/decisions/authorize/CoastCable") } == 2, "\(ended.steps)")
    }
}
