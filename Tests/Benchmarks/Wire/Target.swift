import Transport

/// A server under load, and who calls it.
struct Target {
    /// `host:port`, the host an IPv4 address.
    var address: String
    var name: String
    var files: TlsFiles
}
