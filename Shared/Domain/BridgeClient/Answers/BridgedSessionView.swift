public import OutboundHttp
internal import StrictJson

/// The session that a code stands for at the upstream (rest-v2 §2.4).
public struct BridgedSessionView: Hashable, Sendable {
    public let serviceProvider: String
    public let mvpd: String
    /// The upstream's reading of the device: `model`, `type`, `operatingSystem.name`, …; only texts.
    public let device: [String: String]

    private static let mostMembers = 64
    private static let longestValue = 512

    /// - Throws: `BridgeFailure`; `unusable` without `existingParameters` or `device`.
    public init(_ answer: OutboundAnswer) throws(BridgeFailure) {
        let body = try BridgeAnswer.document(answer)
        guard let existing = body["existingParameters"] else { throw .unusable("existingParameters is missing") }
        guard let device = body["device"], device.members != nil else { throw .unusable("device is missing") }
        serviceProvider = existing["serviceProvider"]?.string ?? ""
        mvpd = existing["mvpd"]?.string ?? ""
        var told: [String: String] = [:]
        for member in (device.members ?? []).prefix(Self.mostMembers) {
            if let text = member.value.string { told[member.name] = Self.cut(text) }
            for inner in (member.value.members ?? []).prefix(Self.mostMembers) {
                if let text = inner.value.string { told["\(member.name).\(inner.name)"] = Self.cut(text) }
            }
        }
        self.device = told
    }

    private static func cut(_ text: String) -> String { String(decoding: text.utf8.prefix(longestValue), as: UTF8.self) }
}
