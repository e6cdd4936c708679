internal import ArgumentParser

/// A host that gets a copy of each program.
struct HostPlan: Sendable, Equatable {
    /// As the others find it by name.
    let name: String
    /// Its zone; `nil`: none.
    let zone: String?

    /// - Parameter text: `NAME` or `NAME=ZONE`.
    /// - Throws: `ValidationError`.
    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        name = parts[0]
        zone = parts.count > 1 ? parts[1] : nil
        try Self.check(name, option: "--host")
        if let zone, zone.isEmpty || zone.utf8.count > 128 { throw ValidationError("--host '\(text)' has no zone of 1 to 128 octets behind '='") }
    }

    /// A host stands in the middle of a name in its certificates.
    static func check(_ name: String, option: String) throws {
        let label = /[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*/
        guard name.utf8.count <= 200, name.wholeMatch(of: label) != nil else {
            throw ValidationError("\(option) '\(name)' is no name of a host: lower-case letters, digits, '-' and '.'")
        }
    }
}
