internal import CommandKit
internal import Foundation

/// A gateway with the given settings file is administered here: the file may be somebody's own, and older than this command.
struct GatewayListeners {
    /// Base URL.
    let administration: String

    /// - Parameter settings: The gateway's settings file. An unreadable setting has its default; the gateway itself reports the problem.
    init(settings: URL) {
        let content = (try? Data(contentsOf: settings)).flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
        let admin = (content?["gateway"] as? [String: Any])?["admin"] as? [String: Any]
        let scheme = admin?["certificate"] is String ? "https" : "http"
        let listen = admin?["listen"] as? String ?? "127.0.0.1:\(PortPlan(base: nil).admin)"
        // An address for all of this machine's is reached by loopback too.
        let address = ["0.0.0.0:", "[::]:"].first { listen.hasPrefix($0) }.map { "127.0.0.1:" + listen.dropFirst($0.count) } ?? listen
        administration = "\(scheme)://\(address)"
    }
}
