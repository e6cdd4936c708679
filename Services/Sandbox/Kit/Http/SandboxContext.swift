package import Hummingbird
package import NIOCore

/// A handler's knowledge about a request besides the request.
package struct SandboxContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The connection: the control routes check its peer, a disturbance may reset it.
    package let channel: any Channel
    /// True when callers of private networks count as this machine.
    package var trustsPrivateNetworks = false

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The caller's address; empty when it has none.
    package var address: String { channel.remoteAddress?.ipAddress ?? "" }

    /// The connection that carries this request as one of its streams (RFC 9113 §5); `nil`: HTTP/1.1, whose channel lies below the listener's.
    private var multiplexed: (any Channel)? { channel.parent.flatMap { $0.parent == nil ? nil : $0 } }

    package var httpVersion: String { multiplexed == nil ? "1.1" : "2" }

    /// Source port of the caller's connection; 0 when it has none.
    package var port: Int { (multiplexed ?? channel).remoteAddress?.port ?? 0 }

    /// True when the caller may control the stand-ins.
    package var isTrusted: Bool { isLoopback || (trustsPrivateNetworks && isPrivate) }

    /// True when the caller's address is of a private network (RFC 1918, RFC 4193).
    private var isPrivate: Bool {
        switch channel.remoteAddress {
        case .v4(let address):
            let number = UInt32(bigEndian: address.address.sin_addr.s_addr)
            return number >> 24 == 10 || number >> 20 == 0xAC1 || number >> 16 == 0xC0A8
        case .v6(let address): return withUnsafeBytes(of: address.address.sin6_addr) { $0[0] & 0xFE == 0xFC }
        case .unixDomainSocket, nil: return false
        }
    }

    /// True when the caller is on this machine.
    package var isLoopback: Bool {
        switch channel.remoteAddress {
        case .v4(let address): address.address.sin_addr.s_addr.bigEndian >> 24 == 127
        case .v6: channel.remoteAddress?.ipAddress == "::1"
        case .unixDomainSocket: true
        case nil: false
        }
    }
}

/// Refuses callers from other machines, unless the settings trust private networks.
package struct LoopbackOnly: RouterMiddleware {
    package init() {}

    package func handle(
        _ input: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
    ) async throws -> Response {
        guard context.isTrusted else { throw HTTPError(.forbidden) }
        // A page of any site can make a browser on this machine call one of its ports.
        if input.uri.path.utf8.starts(with: "/control".utf8) {
            guard Self.comesFromAProgram(input), Self.isNamedLocally(input.head.authority ?? "") else {
                throw HTTPError(.forbidden, message: "/control is for programs on this machine, by its own names")
            }
        }
        return try await next(input, context)
    }

    /// Browsers send with each request which site made it.
    private static func comesFromAProgram(_ request: Request) -> Bool {
        guard request.headers[.origin] == nil else { return false }
        let site = request.headers.first { $0.name.canonicalName == "sec-fetch-site" }?.value
        return site.map { $0 == "none" || $0 == "same-origin" } ?? true
    }

    /// An address, `localhost`, or a name without a dot, as containers have them: a registered domain name may lead here by DNS rebinding.
    package static func isNamedLocally(_ authority: String) -> Bool {
        if authority.isEmpty || authority.hasPrefix("[") { return true }
        let host = authority.prefix { $0 != ":" }
        return !host.contains(".") || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}

/// Marks each request with whether callers of private networks are trusted.
package struct PrivateNetworkTrust: RouterMiddleware {
    private let trustsPrivateNetworks: Bool

    package init(trustsPrivateNetworks: Bool) { self.trustsPrivateNetworks = trustsPrivateNetworks }

    package func handle(
        _ input: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.trustsPrivateNetworks = trustsPrivateNetworks
        return try await next(input, context)
    }
}
