/// The chains of dimensions that a report has (rest-v2 §7): below the time, each line of dimensions and every beginning of one.
struct UsageTree: Sendable {
    private static let lines = [
        "dc",
        "media-company/proxy/mvpd/requestor-id/eap/platform/nsdk/nsdk-version/dc",
        "media-company/requestor-id/proxy/mvpd/eap/platform/nsdk/nsdk-version/dc",
        "proxy/mvpd/media-company/requestor-id/eap/platform/nsdk/nsdk-version/dc",
        "requestor-id/proxy/mvpd/dc",
        "requestor-id/platform/application-name/api",
        "requestor-id/platform/platform-version/dc",
        "requestor-id/customer-app/dc",
        "requestor-id/application-name/application-version/application-software-id/platform/dc",
        "requestor-id/channel/resource-id/content-category/dc",
        "requestor-id/device/os-family/os-type/platform-version/dc",
        "requestor-id/browser-family/browser-version/dc",
        "requestor-id/cdt/dc",
        "requestor-id/api/decision-type/dc",
        "event/media-company/requestor-id/proxy/mvpd/reason/dc",
        "event/media-company/requestor-id/proxy/mvpd/arch/dc",
        "event/media-company/requestor-id/proxy/mvpd/sso-type/dc",
    ]
    private static let linesOfMvpds = [
        "platform/nsdk/nsdk-version/requestor-id/dc",
        "requestor-id/eap/platform/nsdk/nsdk-version/dc",
    ]

    private final class Node: Sendable {
        let dimension: UsageDimension?
        let children: [Node]

        init(_ dimension: UsageDimension?, _ children: [Node]) {
            self.dimension = dimension
            self.children = children
        }
    }

    static let shared = UsageTree()

    private let root: Node

    private init() {
        let all = Self.chains(Self.lines)
        // Below the programmer's own root it is not asked for again.
        let ofOne = Self.chains(Self.lines).map { chain in chain.filter { $0 != .mediaCompany } }
        root = Node(
            nil,
            [
                Self.time(Self.nodes(all)), Node(.mediaCompany, [Self.time(Self.nodes(ofOne))]),
                Node(.mvpd, [Self.time(Self.nodes(Self.chains(Self.linesOfMvpds)))]),
            ])
    }

    /// - Returns: The dimensions that may follow the path; `nil`: there is no such path.
    func next(after path: [UsageDimension]) -> [UsageDimension]? {
        var node = root
        for dimension in path {
            guard let child = node.children.first(where: { $0.dimension == dimension }) else { return nil }
            node = child
        }
        return node.children.compactMap(\.dimension)
    }

    private static func chains(_ lines: [String]) -> [[UsageDimension]] {
        lines.map { line in line.split(separator: "/").compactMap { UsageDimension(rawValue: String($0)) } }
    }

    private static func nodes(_ chains: [[UsageDimension]]) -> [Node] {
        var order: [UsageDimension] = []
        var rests: [UsageDimension: [[UsageDimension]]] = [:]
        for chain in chains {
            guard let first = chain.first else { continue }
            if rests[first] == nil { order.append(first) }
            rests[first, default: []].append(Array(chain.dropFirst()))
        }
        return order.map { Node($0, nodes(rests[$0] ?? [])) }
    }

    /// A year, its months, their days; days, hours and minutes go on.
    private static func time(_ others: [Node]) -> Node {
        Node(.year, [Node(.month, [Node(.day, [Node(.hour, [Node(.minute, others)] + others)] + others)])])
    }
}
