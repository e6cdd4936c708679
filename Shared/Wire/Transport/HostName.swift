/// The second kind of name in a certificate between services. Beside its role (`authentication.boxoffice`), which peers pin and allow-lists name, it
/// has the host that it was made for (`authentication.HOST.boxoffice`), for logs.
public enum HostName {
    private static let domain = ".boxoffice"

    /// - Parameter names: DNS SANs of one certificate.
    /// - Returns: The first name of a host.
    public static func of(_ names: [String]) -> String? { names.first { isOfHost($0, names) } }

    /// - Parameter names: DNS SANs of one certificate.
    /// - Returns: All others, in their order.
    public static func roles(in names: [String]) -> [String] {
        names.count > 1 ? names.filter { !isOfHost($0, names) } : names
    }

    /// True when the name is that of a role in the same certificate with labels in between.
    private static func isOfHost(_ name: String, _ names: [String]) -> Bool {
        guard name.hasSuffix(domain), let dot = name.firstIndex(of: "."), name[dot...].utf8.count > domain.utf8.count else { return false }
        let role = name[..<dot] + domain
        return names.contains { $0.utf8.elementsEqual(role.utf8) }
    }
}
