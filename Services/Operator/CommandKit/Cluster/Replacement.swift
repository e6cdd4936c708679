internal import ArgumentParser
package import Rpc

/// Somebody's own service in place of one of the cluster's: `up` neither starts nor stops it.
package struct Replacement: Sendable, Equatable {
    static let replaceable: [ClusterService] = [.config, .authentication, .authorization, .autosignin]

    package let service: ClusterService
    package let address: RpcAddress

    package init(service: ClusterService, address: RpcAddress) {
        self.service = service
        self.address = address
    }

    /// - Parameter text: `service=host:port`, an IPv6 address in brackets.
    /// - Throws: `ValidationError` that names what is wrong.
    package init(_ text: String) throws {
        guard let equals = text.firstIndex(of: "=") else {
            throw ValidationError("--replace '\(text)' is not of the form service=host:port, for example config=127.0.0.1:7101")
        }
        let (name, place) = (text[..<equals], String(text[text.index(after: equals)...]))
        guard let service = ClusterService(rawValue: String(name)), Self.replaceable.contains(service) else {
            let names = Self.replaceable.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--replace '\(text)': '\(name)' cannot be replaced; these can: \(names)")
        }
        guard let address = RpcAddress(place), address.port > 0 else {
            throw ValidationError("--replace '\(text)': '\(place)' is not host:port with a port from 1 to 65535; an IPv6 address goes in brackets")
        }
        self.init(service: service, address: address)
    }

    /// - Throws: `ValidationError` when a service is named twice or two share an address.
    package static func read(_ texts: [String]) throws -> [Replacement] {
        let all = try texts.map(Replacement.init)
        for (index, one) in all.enumerated() {
            guard let other = all[..<index].first(where: { $0.service == one.service || $0.address == one.address }) else { continue }
            throw ValidationError(
                one.service == other.service
                    ? "--replace names \(one.service.rawValue) twice"
                    : "--replace has \(other.service.rawValue) and \(one.service.rawValue) at the same address \(one.address)")
        }
        return all
    }
}
