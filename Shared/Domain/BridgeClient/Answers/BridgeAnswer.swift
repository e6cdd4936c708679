internal import OutboundHttp
internal import StrictJson

/// Reads upstream's answers: strangers' octets, so bounded and checked before anything is believed (bridge §5.2, §14.3).
enum BridgeAnswer {
    /// Nesting that an answer may have.
    private static let deepest = 32
    private static let largestCode = 128
    private static let largestDetails = 512
    private static let longestPause: Int64 = 600

    /// The document of an answer that says yes.
    /// - Parameters:
    ///   - answer: As it came; its size is bounded already.
    ///   - accepted: Statuses that mean yes.
    /// - Throws: The failure that the answer means otherwise.
    static func document(_ answer: OutboundAnswer, accepted: Set<Int> = [200]) throws(BridgeFailure) -> JsonNode {
        guard accepted.contains(answer.status) else { throw failure(answer) }
        return try parsed(answer.body)
    }

    private static func parsed(_ body: [UInt8]) throws(BridgeFailure) -> JsonNode {
        guard String(validating: body, as: UTF8.self) != nil else { throw .unusable("the body is not UTF-8") }
        let root: JsonNode
        do { root = try JsonDocument(parsing: body).root } catch { throw .unusable("the body is not JSON: \(error)") }
        guard root.members != nil else { throw .unusable("the body is \(root.kind), not an object") }
        guard root.isAtMost(deepest) else { throw .unusable("the body is nested deeper than \(deepest)") }
        guard !root.containsNul else { throw .unusable("a text contains U+0000") }
        return root
    }

    /// The failure that another status means.
    private static func failure(_ answer: OutboundAnswer) -> BridgeFailure {
        switch answer.status {
        case 401: return .unauthorized
        case 429: return .throttled(retryAfter: pause(answer))
        case 300..<400, 404, 405: return .wrongAddress(answer.status)
        case 500...: return serverFailure(answer)
        default: return refusal(answer).map { .refused($0) } ?? .badRequest(answer.status)
        }
    }

    /// The upstream's own faults come as 500 with a code that says whose they are.
    private static func serverFailure(_ answer: OutboundAnswer) -> BridgeFailure {
        guard let refusal = refusal(answer), case .theirFault = BridgeMeaning(refusal) else { return .serverError(answer.status) }
        return .refused(refusal)
    }

    private static func refusal(_ answer: OutboundAnswer) -> BridgeRefusal? {
        guard let body = try? parsed(answer.body) else { return nil }
        // Registration and token answer with OAuth's member (RFC 6749 §5.2, RFC 7591 §3.2.2), everything else with an enhanced error.
        if body["code"] == nil, let code = body["error"]?.string, isCode(code) { return BridgeRefusal(status: answer.status, code: code) }
        return refusal(body, status: answer.status)
    }

    /// - Parameter status: Where the error does not say its own.
    static func refusal(_ error: JsonNode, status: Int) -> BridgeRefusal? {
        guard let code = error["code"]?.string, isCode(code) else { return nil }
        return BridgeRefusal(
            status: error["status"]?.integer.flatMap { Int(exactly: $0) } ?? status, code: code, action: error["action"]?.string ?? "none",
            details: clean(error["details"]?.string ?? ""),
            trace: String(decoding: (error["trace"]?.string ?? "").utf8.prefix(largestCode), as: UTF8.self))
    }

    private static func isCode(_ text: String) -> Bool {
        (1...largestCode).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x61...0x7a).contains($0) || (0x41...0x5a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f || $0 == 0x2d
            }
    }

    /// Without control characters, and cut where a character ends.
    private static func clean(_ text: String) -> String {
        var kept = ""
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value)
            if kept.utf8.count + UTF8.width(scalar) > largestDetails { break }
            kept.unicodeScalars.append(isControl ? " " : scalar)
        }
        return kept
    }

    private static func pause(_ answer: OutboundAnswer) -> Duration {
        let seconds = answer.header("Retry-After").flatMap { Int64($0) } ?? 1
        return .seconds(min(max(seconds, 1), longestPause))
    }
}
