/// Everything that the gateway answers.
package struct RouteTable: Sendable {
    package let routes: [Route]
    /// A person who typed the bare address of administration is led here; `nil` where there is no console. The public listener has another route
    /// there.
    private let administrationEntrance: Route?

    package init(_ routes: [Route], administrationEntrance: Route? = nil) {
        self.routes = routes
        self.administrationEntrance = administrationEntrance
    }

    /// All callers may ask for these: whether the gateway works, and what it offers.
    private static let onEveryListener: Set<OctetText> = ["/healthz", "/readyz", "/openapi.json"]

    /// The routes of one kind of listener; its addresses are unknown at the other.
    func routes(at listenerKind: ListenerKind) -> [Route] {
        let own = routes.filter { $0.audience.listenerKind == listenerKind || Self.onEveryListener.contains(OctetText($0.path)) }
        return listenerKind == .administration ? own + [administrationEntrance].compactMap(\.self) : own
    }
}

/// Finds the route of a path, segment by segment. A literal segment goes before a captured one, and that before the capture of all that is left,
/// `{name*}`. `PathRule` has said that no segment is empty.
struct RouteTree: Sendable {
    /// A route and the parts of the path that it captured, as they were sent.
    struct Match: Sendable {
        let route: Route
        let captures: [(name: String, text: Substring)]

        /// The route's own path with what was captured in its places: nothing else of the path that was asked for.
        var path: String {
            let parts = route.path.split(separator: "/").map { part -> Substring in
                captures.first { part == "{" + $0.name + "}" || part == "{" + $0.name + "*}" }?.text ?? part
            }
            return "/" + parts.joined(separator: "/")
        }
    }

    private struct Node: Sendable {
        var literals: [OctetText: Int] = [:]
        var capture: (name: String, node: Int)?
        var rest: (name: String, route: Route)?
        var route: Route?
    }

    private var nodes = [Node()]
    /// Routes without captures, by their whole path: most requests are for one of these, written as it is here.
    private var plain: [OctetText: Route] = [:]

    init(_ routes: [Route]) {
        for route in routes { add(route) }
    }

    func match(_ path: String) -> Match? {
        if let route = plain[path] { return Match(route: route, captures: []) }
        var captures: [(name: String, text: Substring)] = []
        guard let route = find(path.split(separator: "/", maxSplits: PathRule.deepest)[...], from: 0, &captures) else { return nil }
        return Match(route: route, captures: captures)
    }

    private func find(_ segments: ArraySlice<Substring>, from index: Int, _ captures: inout [(name: String, text: Substring)]) -> Route? {
        let node = nodes[index]
        guard let segment = segments.first else { return node.route }
        if let next = node.literals[OctetText(segment)], let route = find(segments.dropFirst(), from: next, &captures) { return route }
        if let capture = node.capture {
            captures.append((capture.name, segment))
            if let route = find(segments.dropFirst(), from: capture.node, &captures) { return route }
            captures.removeLast()
        }
        guard let rest = node.rest, let last = segments.last else { return nil }
        captures.append((rest.name, segment.base[segment.startIndex..<last.endIndex]))
        return rest.route
    }

    private mutating func add(_ route: Route) {
        var index = 0
        for segment in route.path.split(separator: "/") {
            let isCapture = segment.hasPrefix("{")
            if isCapture, segment.hasSuffix("*}") {
                precondition(nodes[index].rest == nil, "two routes have the path \(route.path)")
                nodes[index].rest = (String(segment.dropFirst().dropLast(2)), route)
                return
            }
            if let next = isCapture ? nodes[index].capture?.node : nodes[index].literals[OctetText(segment)] {
                index = next
                continue
            }
            nodes.append(Node())
            if isCapture {
                nodes[index].capture = (String(segment.dropFirst().dropLast()), nodes.count - 1)
            } else {
                nodes[index].literals[OctetText(segment)] = nodes.count - 1
            }
            index = nodes.count - 1
        }
        precondition(nodes[index].route == nil, "two routes have the path \(route.path)")
        nodes[index].route = route
        if !route.path.contains("{") { plain[route.path] = route }
    }
}
