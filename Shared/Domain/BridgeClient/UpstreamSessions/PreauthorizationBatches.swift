/// How many resources upstream takes at once, and how an app's list is cut (bridge §9.5).
public struct PreauthorizationBatches: Hashable, Sendable {
    /// The size that the upstream documents as usual.
    public static let usual = 5

    public let batches: [[String]]

    /// - Parameters:
    ///   - resources: As the app sent them; each is asked once.
    ///   - size: At least 1.
    public init(_ resources: [String], size: Int = usual) {
        var known: Set<OctetText> = []
        let distinct = resources.filter { known.insert($0).inserted }
        let size = max(size, 1)
        batches = stride(from: 0, to: distinct.count, by: size).map { Array(distinct[$0..<min($0 + size, distinct.count)]) }
    }

    /// The size to try after upstream took a batch of that many for too large.
    /// - Returns: `nil` when it was a single one.
    public static func smaller(than size: Int) -> Int? { size > 1 ? (size + 1) / 2 : nil }

    /// Puts what was decided into the order of the request.
    /// - Returns: For each resource its decision, or `nil` where its batch failed.
    public static func merged(_ resources: [String], _ decisions: [BridgedDecision]) -> [BridgedDecision?] {
        let known = Dictionary(texts: decisions.map { ($0.resource, $0) }, uniquingKeysWith: { first, _ in first })
        return resources.map { known[$0] }
    }
}
