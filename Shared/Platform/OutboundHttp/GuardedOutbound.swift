internal import Foundation
internal import NIOCore
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

/// Which addresses are of the public internet: none of this machine, of a private network, or of what stands for another address.
public enum PublicAddress {
    /// - Parameter text: As it is written; a name or an address with a port is none.
    public static func contains(_ text: String) -> Bool {
        guard text.utf8.count <= 45, let address = try? SocketAddress(ipAddress: text, port: 0) else { return false }
        return switch address {
        case .v4(let four): withUnsafeBytes(of: four.address.sin_addr) { contains(Array($0)) }
        case .v6(let six): withUnsafeBytes(of: six.address.sin6_addr) { contains(Array($0)) }
        case .unixDomainSocket: false
        }
    }

    /// - Parameter octets: 4 or 16.
    static func contains(_ octets: [UInt8]) -> Bool {
        switch octets.count {
        case 4: !special4.contains { matches(octets, $0.base, $0.bits) }
        // Global unicast alone: neither mapped nor translated addresses, which lead to others.
        case 16: matches(octets, [0x20], 3) && !special6.contains { matches(octets, $0.base, $0.bits) }
        default: false
        }
    }

    private static func matches(_ octets: [UInt8], _ base: [UInt8], _ bits: Int) -> Bool {
        (0..<bits).allSatisfy { bit in
            let mask = UInt8(0x80) >> (bit % 8)
            return octets[bit / 8] & mask == (bit / 8 < base.count ? base[bit / 8] : 0) & mask
        }
    }

    /// RFC 6890 and its successors, multicast, and what is reserved.
    private static let special4: [(base: [UInt8], bits: Int)] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24), ([192, 0, 2], 24),
        ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24), ([203, 0, 113], 24), ([224], 3),
    ]

    /// Protocol assignments with Teredo, documentation, 6to4.
    private static let special6: [(base: [UInt8], bits: Int)] = [
        ([0x20, 0x01, 0x00], 23), ([0x20, 0x01, 0x0d, 0xb8], 32), ([0x20, 0x02], 16), ([0x3f, 0xff, 0x00], 20),
    ]
}
