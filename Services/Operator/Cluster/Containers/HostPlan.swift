internal import ArgumentParser
internal import Foundation

/// A host that gets a copy of each program.
struct HostPlan: Sendable, Equatable {
    /// As the others find it by name.
    let name: String
    /// Its zone; `nil`: none.
    let zone: String?
    /// Where its programs tell metrics and readiness; `nil`: at the address of its name.
    var debugAddress: String?

    /// - Parameter text: `NAME` or `NAME=ZONE`.
    /// - Throws: `ValidationError`.
    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        name = parts[0]
        zone = parts.count > 1 ? parts[1] : nil
        try Self.check(name, option: "--host")
        if let zone, zone.isEmpty || zone.utf8.count > 128 { throw ValidationError("--host '\(text)' has no zone of 1 to 128 octets behind '='") }
    }

    /// - Parameters:
    ///   - hosts: As `--host` names them.
    ///   - debugAddresses: `HOST=IP` of hosts whose name leads to another address than the one for metrics.
    /// - Throws: `ValidationError`.
    static func all(_ hosts: [String], debugAddresses: [String]) throws -> [HostPlan] {
        var plans = try hosts.map(HostPlan.init)
        guard Set(plans.map(\.name)).count == plans.count else { throw ValidationError("--host names a host twice") }
        for text in debugAddresses {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, isNumeric(parts[1]) else {
                throw ValidationError("--debug-address '\(text)' is no HOST=IP, such as a1=10.0.0.21")
            }
            guard let index = plans.firstIndex(where: { $0.name == parts[0] }) else {
                throw ValidationError("--debug-address '\(text)' is for a host that no --host names")
            }
            guard plans[index].debugAddress == nil else { throw ValidationError("--debug-address names '\(parts[0])' twice") }
            plans[index].debugAddress = parts[1]
        }
        return plans
    }

    /// A host stands in the middle of a name in its certificates.
    static func check(_ name: String, option: String) throws {
        let label = /[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*/
        guard name.utf8.count <= 200, name.wholeMatch(of: label) != nil else {
            throw ValidationError("\(option) '\(name)' is no name of a host: lower-case letters, digits, '-' and '.'")
        }
    }

    /// True for an address of IPv4 or IPv6, without brackets.
    static func isNumeric(_ address: String) -> Bool {
        var (four, six) = (in_addr(), in6_addr())
        return inet_pton(AF_INET, address, &four) == 1 || inet_pton(AF_INET6, address, &six) == 1
    }
}
