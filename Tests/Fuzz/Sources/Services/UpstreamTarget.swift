@testable internal import BridgeClient
internal import Clocks
internal import OutboundHttp
internal import StrictJson

/// Answers of upstream clusters: whatever a reader takes keeps the bounds that it promises, and JSON that goes on is read again as it was.
///
/// The first byte chooses the reader, the second the status; a header value follows up to a zero byte, then the body.
enum UpstreamTarget {
    private static let statuses = [200, 201, 204, 302, 400, 401, 403, 404, 429, 500, 503]
    private static let now = Timestamp(seconds: 1_930_384_805)

    @Sendable static func run(_ input: inout Input) {
        let reader = input.byte()
        let status = statuses[Int(input.byte()) % statuses.count]
        let header = String(decoding: input.part(), as: UTF8.self)
        let body = input.remainder()
        let answer = OutboundAnswer(status: status, headers: [("Retry-After", header), ("Date", header), ("Adobe-Request-Id", header)], body: body)
        checkJSON(body)
        let trace = UpstreamTrace.of(answer)
        check(trace.utf8.count <= 128 && trace.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "a trace leaves its bounds")
        if let offset = UpstreamClock.offset(answer, now: now) { check(now + offset >= Timestamp(milliseconds: 0), "a date before all dates") }
        do throws(BridgeFailure) {
            try read(answer, reader)
            noteTaken()
            check([200, 201, 204].contains(status), "an answer that says no was taken for a yes")
        } catch {
            checkFailure(error)
        }
    }

    private static func read(_ answer: OutboundAnswer, _ reader: UInt8) throws(BridgeFailure) {
        switch reader % 11 {
        case 0: checkList(try BridgedList(answer))
        case 1: checkProfiles(try BridgedProfile.all(answer))
        case 2: for decision in try BridgedDecision.all(answer) { checkDecision(decision) }
        case 3:
            let decision = try BridgedDecision(answer, resource: "SPORTS")
            checkDecision(decision)
            if case .permit = decision.outcome { check(decision.token != nil, "a permit without a token") }
        case 4: checkSignIn(try BridgedSignIn(answer))
        case 5: check(!(try BridgedLogout(answer, mvpd: "HARBOR")).path.utf8.contains(0), "a NUL")
        case 6:
            let view = try BridgedSessionView(answer)
            check(
                view.device.count <= 64 * 65 && view.device.values.allSatisfy { $0.utf8.count <= 515 && !$0.utf8.contains(0) },
                "a text leaves its bounds")
        case 7:
            let credentials = try BridgeCredentials(answer)
            check(
                (1...4096).contains(credentials.clientID.utf8.count) && (1...4096).contains(credentials.clientSecret.utf8.count),
                "credentials leave their bounds")
            check(credentials.scopes.allSatisfy { !$0.utf8.contains(0) }, "a NUL")
        case 8:
            let bearer = try BridgeBearer(answer, now: now)
            check(
                (1...16_384).contains(bearer.token.utf8.count) && bearer.token.utf8.allSatisfy { (0x21...0x7e).contains($0) },
                "a token leaves its bounds")
            check(bearer.life > .zero && bearer.life <= .seconds(31_536_000) && bearer.end <= now + bearer.life, "a life leaves its bounds")
        case 9: try BridgedReset.check(answer)
        default:
            let token = UpstreamMediaToken(String(decoding: answer.body, as: UTF8.self))
            for text in [token.sessionGUID, token.proxyMvpd] {
                check(text.map { (1...256).contains($0.utf8.count) } ?? true, "an id leaves its bounds")
            }
            throw .badRequest(0)
        }
    }

    private static func checkList(_ list: BridgedList) {
        check(list.providers.count + list.dropped.count <= 5000, "too many providers")
        check(Set(list.providers.map { OctetText($0.id) }).count == list.providers.count, "a provider is there twice")
        for provider in list.providers {
            let isID = provider.id.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f || byte == 0x2d
            }
            check(isID && (1...128).contains(provider.id.utf8.count), "an id that is none")
            check((1...256).contains(provider.displayName.utf8.count) && !provider.displayName.utf8.contains(0), "a name leaves its bounds")
            check(
                provider.logoURL.isEmpty || provider.logoURL.hasPrefix("https://") && provider.logoURL.utf8.count <= 2048,
                "an address leaves its bounds")
        }
        check(list.dropped.allSatisfy { $0.utf8.count <= 130 }, "a dropped id leaves its bounds")
        let merge = ProviderListMerge(order: .upstream, isWhole: true)
        let offers = merge.merge(list.providers, [])
        check(offers.map(\.id) == list.providers.map(\.id), "a merge with nothing changes a list")
    }

    private static func checkProfiles(_ profiles: [BridgedProfile]) {
        check(profiles.count <= 500, "too many profiles")
        for profile in profiles {
            check(
                profile.start >= Timestamp(milliseconds: 0) && profile.end >= Timestamp(milliseconds: 0) && profile.attributes.count <= 100,
                "a profile leaves its bounds")
            for attribute in profile.attributes {
                guard let value = try? JsonDocument(parsing: Array(attribute.json.utf8)).root else { fatalError("an attribute is no JSON") }
                check(value.text == attribute.json && !value.containsNul, "an attribute changed on its way")
                check(profile[attribute: attribute.name] != nil, "an attribute is not found")
            }
        }
        let shifted = profiles.earlier(by: .seconds(5)).earlier(by: .seconds(-5))
        for (left, right) in zip(profiles, shifted) where left.end < Timestamp(seconds: 253_402_300_799) && left.start < left.end {
            check(left == right, "a moment changed on its way")
        }
    }

    private static func checkDecision(_ decision: BridgedDecision) {
        check(!decision.resource.utf8.contains(0), "a NUL")
        switch decision.outcome {
        case .permit: if let token = decision.token { check((1...65_536).contains(token.serialized.utf8.count), "a token leaves its bounds") }
        case .deny(let refusal):
            check(decision.token == nil, "a denial with a token")
            checkRefusal(refusal)
        }
    }

    private static func checkSignIn(_ signIn: BridgedSignIn) {
        switch signIn {
        case .browser(let path, let code, let end):
            check(
                (1...4096).contains(path.utf8.count) && (1...64).contains(code.utf8.count) && end >= Timestamp(milliseconds: 0),
                "a sign-in leaves its bounds")
        case .partner(let request, let names): check(!request.isEmpty && names.allSatisfy { !$0.utf8.contains(0) }, "a sign-in leaves its bounds")
        case .incomplete(let missing): check(missing.allSatisfy { !$0.utf8.contains(0) }, "a NUL")
        case .done: break
        }
    }

    private static func checkFailure(_ failure: BridgeFailure) {
        switch failure {
        case .throttled(let pause): check(pause >= .seconds(1) && pause <= .seconds(600), "a pause leaves its bounds")
        case .refused(let refusal): checkRefusal(refusal)
        default: break
        }
        let fault = failure.fault()
        check(fault.code != .accessDenied, "an app would throw its token away")
    }

    private static func checkRefusal(_ refusal: BridgeRefusal) {
        check(
            (1...128).contains(refusal.code.utf8.count) && refusal.details.utf8.count <= 512 && refusal.trace.utf8.count <= 131,
            "a refusal leaves its bounds")
        check(!refusal.details.unicodeScalars.contains(where: isControl), "a control character")
        _ = refusal.decisionFault
    }

    private static func checkJSON(_ body: [UInt8]) {
        guard let root = try? JsonDocument(parsing: body).root else { return }
        guard let again = try? JsonDocument(parsing: Array(root.text.utf8)).root else { fatalError("JSON does not encode") }
        check(again.text == root.text, "JSON changed on its way")
    }
}
