public import OutboundHttp

/// The management host's answer to a reset of trials (rest-v2 §2.14).
public enum BridgedReset {
    /// - Throws: `BridgeFailure` unless it was done.
    public static func check(_ answer: OutboundAnswer) throws(BridgeFailure) {
        guard answer.status != 204 else { return }
        _ = try BridgeAnswer.document(answer)
    }
}
