internal import CommandKit
internal import Foundation
internal import PeerDoubles

/// Tells where a lone service and its doubles are, and what to try.
struct LoneServiceSummary {
    let lone: LoneService
    let running: LoneService.Running
    let console: Console

    func print() {
        let addresses = ClusterAddresses(ports: lone.ports)
        var rows = [(lone.service.rawValue, lone.service == .gateway ? addresses.gateway : "\(addresses.main(lone.service)) (RPC, mutual TLS)")]
        for (peer, address) in (running.doubles?.addresses ?? [:]).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            rows.append(("\(peer.rawValue)", "\(address) (double)"))
        }
        if running.sandbox != nil { rows.append(("sandbox", "\(addresses.sandbox), Apple at \(addresses.apple), upstream at \(addresses.upstream)")) }
        let pki = running.file.pki
        rows += [
            ("Metrics", "http://\(addresses.debug(lone.service))/metrics"), ("Certificates", "\(pki.ca), \(pki.clientCert), \(pki.clientKey)"),
            ("Log", lone.home.log(of: lone.service).path), ("For scripts", lone.home.clusterFile.path),
        ]
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        rows.forEach { console.line("  \($0.0.padding(toLength: width, withPad: " ", startingAt: 0))\($0.1)") }
        console.line("\n  \(console.bold("Try next"))")
        tries.forEach { console.line("    \($0)") }
        console.line("\n  Ctrl-C stops it\(running.doubles == nil ? "" : " and its doubles").")
    }

    /// What a program wants to know.
    /// - Parameter took: Until it was ready.
    func members(_ took: Duration) -> [String: Any] {
        let addresses = ClusterAddresses(ports: lone.ports)
        let pki = running.file.pki
        let doubles = (running.doubles?.addresses ?? [:]).map { ($0.key.rawValue, "\($0.value)") }
        var members: [String: Any] = [
            "service": lone.service.rawValue, "milliseconds": Console.milliseconds(took), "pid": Int(running.process.pid),
            "address": lone.service == .gateway ? addresses.gateway : addresses.main(lone.service),
            "metrics": "http://\(addresses.debug(lone.service))/metrics", "doubles": Dictionary(uniqueKeysWithValues: doubles),
            "pki": ["ca": pki.ca, "clientCert": pki.clientCert, "clientKey": pki.clientKey], "log": lone.home.log(of: lone.service).path,
            "clusterFile": lone.home.clusterFile.path,
        ]
        if running.sandbox != nil { members["sandbox"] = ["mvpd": addresses.sandbox, "apple": addresses.apple, "upstream": addresses.upstream] }
        return members
    }

    private var tries: [String] {
        let program = Checkout.commandLine
        guard lone.service == .gateway else { return ["\(program) conformance \(lone.service.rawValue) --help"] }
        let gateway = running.file.gateway
        let device =
            "-H 'Authorization: Bearer any' -H \"X-Device-Info: $(printf '{\"model\":\"TV\",\"osName\":\"Linux\"}' | base64 -w0)\" -H 'Accept: application/json'"
        return [
            "curl -s '\(gateway)/api/v1/config/ACME1.json'", "curl -s \(device) -d deviceId=tv-1 '\(gateway)/reggie/v1/ACME1/regcode'",
            "curl -s \(device) '\(gateway)/api/v1/tokens/authn?requestor=ACME1&deviceId=tv-1'",
            "curl -s \(device) '\(gateway)/api/v1/authorize?requestor=ACME1&deviceId=tv-1&resource=ACME1-NEWS'",
            "BOXOFFICE_HOME=\(lone.home.root.path) \(program) device --as ada",
        ]
    }
}
