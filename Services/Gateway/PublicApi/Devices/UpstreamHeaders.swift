internal import Contracts

/// What an app sends for a vendor alone, and an upstream gets in its place (bridge §5.1).
enum UpstreamHeaders {
    private static let longestVisitor = 128
    private static let longestToken = 8192

    /// What is too long is as good as not sent: nobody may be kept from watching for it.
    static func add(to call: inout DeviceCall, _ exchange: Exchange) {
        let visitor = ((try? exchange.value("ap_vi")) ?? nil) ?? ""
        let token = exchange.headers.value(.rokuConnectToken) ?? ""
        if visitor.utf8.count <= longestVisitor { call.visitorID = visitor }
        if token.utf8.count <= longestToken { call.rokuToken = token }
    }
}
