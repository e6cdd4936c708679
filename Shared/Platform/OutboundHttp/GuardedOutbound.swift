internal import Foundation
internal import Synchronization

/// Carries requests to servers that a person named, and lets none of them lead into the own network. Each name is resolved here, and every address
/// that it has is checked. The connection goes to the very address that was checked, whatever the name means a moment later (bridge §14.3).
public final class GuardedOutbound: OutboundTransport {
    /// How long the addresses of a name count; nobody keeps them longer than upstreams allow for (bridge §3.1).
    private static let fresh: Duration = .seconds(30)
    private static let mostNames = 1024

    private struct Known {
        let address: ResolvedAddress
        let end: ContinuousClock.Instant
    }

    private let carrier: any OutboundTransport
    private let names: any NameResolving
    private let allowsPrivate: Bool
    private let isExempt: @Sendable (_ host: String) -> Bool
    private let known = Mutex<[OctetText: Known]>([:])

    /// - Parameters:
    ///   - carrier: Does the calls.
    ///   - allowsPrivate: True when names may lead to this machine and to private networks.
    ///   - isExempt: Hosts, as they are written, that may do so all the same, and are not looked at.
    public convenience init(_ carrier: OutboundHttp, allowsPrivate: Bool, isExempt: @escaping @Sendable (_ host: String) -> Bool) {
        self.init(carrier, names: SystemNames(), allowsPrivate: allowsPrivate, isExempt: isExempt)
    }

    init(_ carrier: any OutboundTransport, names: any NameResolving, allowsPrivate: Bool, isExempt: @escaping @Sendable (_ host: String) -> Bool) {
        self.carrier = carrier
        self.names = names
        self.allowsPrivate = allowsPrivate
        self.isExempt = isExempt
    }

    /// - Throws: `OutboundFailure`; `refusedAddress` where the name leads into a network that is nobody's business, `notSent` where nobody knows it.
    public func send(_ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration) async throws(OutboundFailure) -> OutboundAnswer {
        guard let host = URLComponents(string: request.url)?.host, !host.isEmpty else {
            throw OutboundFailure(.notSent, cause: "the address has no host")
        }
        let written = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        let bare = written.lowercased()
        guard !isExempt(bare) else { return try await carrier.send(request, by: route, timeLeft: timeLeft) }
        let begin = ContinuousClock.now
        let address = try await address(of: bare, timeLeft: min(timeLeft, route.connectTimeout))
        var route = route
        route.pin = OutboundRoute.Pin(host: written, address: address.text)
        let left = timeLeft - begin.duration(to: .now)
        guard left > .zero else { throw OutboundFailure(.budgetSpent) }
        do throws(OutboundFailure) {
            return try await carrier.send(request, by: route, timeLeft: left)
        } catch {
            // The server may have moved.
            if error.isUnsent { known.withLock { $0[OctetText(bare)] = nil } }
            throw error
        }
    }

    /// True when a request to that host would go out, and the addresses that its name has now.
    /// - Returns: Empty: nobody knows the name.
    public static func addresses(of host: String, timeLeft: Duration) async -> [(text: String, isPublic: Bool)] {
        let found = (try? await SystemNames().addresses(of: host, timeLeft: timeLeft)) ?? []
        return found.map { ($0.text, PublicAddress.contains($0.octets)) }
    }

    private func address(of host: String, timeLeft: Duration) async throws(OutboundFailure) -> ResolvedAddress {
        let key = OctetText(host)
        if let known = known.withLock({ $0[key] }), ContinuousClock.now < known.end { return known.address }
        let found: [ResolvedAddress]
        do throws(DocumentFetch.Refusal) {
            found = try await names.addresses(of: host, timeLeft: timeLeft)
        } catch {
            throw OutboundFailure(.connectTimeout, cause: "'\(host)' was not resolved in time")
        }
        guard let first = found.first else { throw OutboundFailure(.notSent, cause: "nobody knows the name '\(host)'") }
        // A name that also leads elsewhere is asked nowhere.
        guard allowsPrivate || found.allSatisfy({ PublicAddress.contains($0.octets) }) else {
            throw OutboundFailure(.refusedAddress, cause: "'\(host)' leads to this machine or into a private network")
        }
        known.withLock { known in
            if known.count >= Self.mostNames { known = [:] }
            known[key] = Known(address: first, end: .now + Self.fresh)
        }
        return first
    }
}
