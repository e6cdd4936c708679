import Foundation
import Glibc

/// Hosts that are network namespaces, on a bridge with this one.
struct HostNetwork: Sendable {
    /// A host and its address.
    struct Host: Hashable, Sendable {
        let name: String
        let namespace: String
        let address: String

        /// Words before a program's own that make it run there.
        var wrapper: [String] { ["/usr/sbin/ip", "netns", "exec", namespace] }
    }

    private let bridge: String
    private let network: String
    let hosts: [Host]

    /// This host's own address on the bridge.
    var here: String { "\(network).1" }

    /// Why there can be none here; `nil` when there can.
    static func obstacle() -> String? {
        guard geteuid() == 0 else { return "only root may make network namespaces; run it as root" }
        let name = "bx-\(getpid())-try"
        do {
            try Tool.run(["ip", "netns", "add", name])
            try Tool.run(["ip", "netns", "del", name])
            return nil
        } catch {
            return "network namespaces cannot be made here: \(error)"
        }
    }

    /// - Parameter names: The names of the hosts.
    /// - Throws: `ChaosFailure`.
    init(hosts names: [String]) throws {
        let number = Int(getpid()) % 4096
        let (bridge, network) = ("bx\(number)", "10.\(200 + number / 256).\(number % 256)")
        (self.bridge, self.network) = (bridge, network)
        hosts = names.enumerated().map { Host(name: $1, namespace: "bx\(number)-\($1)", address: "\(network).\(10 + $0)") }
        do {
            try connectSwitch()
            for (index, host) in hosts.enumerated() {
                let inside = "\(bridge)-\(index)i"
                try Tool.run(["ip", "netns", "add", host.namespace])
                try connect(inside, as: "\(index)o")
                try Tool.run(["ip", "link", "set", inside, "netns", host.namespace])
                try Tool.run(host.wrapper + ["ip", "address", "add", "\(host.address)/24", "dev", inside])
                try Tool.run(host.wrapper + ["ip", "link", "set", inside, "up"])
                try Tool.run(host.wrapper + ["ip", "link", "set", "lo", "up"])
            }
            try nameHosts()
        } catch {
            remove()
            throw error
        }
    }

    /// A bridge in a namespace of its own, where no rule of this machine filters what passes it, as a container engine's would.
    private func connectSwitch() throws {
        try Tool.run(["ip", "netns", "add", bridge])
        try Tool.run(["ip", "-n", bridge, "link", "add", "switch", "type", "bridge"])
        try Tool.run(["ip", "-n", bridge, "link", "set", "switch", "up"])
        try connect(bridge, as: "here")
        try Tool.run(["ip", "address", "add", "\(here)/24", "dev", bridge])
        try Tool.run(["ip", "link", "set", bridge, "up"])
    }

    /// - Parameters:
    ///   - end: The end of a new cable, here.
    ///   - port: Its other end, in the switch.
    private func connect(_ end: String, as port: String) throws {
        try Tool.run(["ip", "link", "add", end, "type", "veth", "peer", "name", port, "netns", bridge])
        try Tool.run(["ip", "-n", bridge, "link", "set", port, "master", "switch"])
        try Tool.run(["ip", "-n", bridge, "link", "set", port, "up"])
    }

    /// Every host finds the others by name: `ip netns exec` puts files of such a folder in place of those in `/etc`.
    private func nameHosts() throws {
        let lines = ["127.0.0.1 localhost"] + hosts.map { "\($0.address) \($0.name)" }
        for host in hosts {
            try FileManager.default.createDirectory(at: Self.files(of: host), withIntermediateDirectories: true)
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: Self.files(of: host).appendingPathComponent("hosts"))
        }
    }

    private static func files(of host: Host) -> URL { URL(fileURLWithPath: "/etc/netns/\(host.namespace)") }

    /// - Precondition: There is such a host.
    subscript(name: String) -> Host {
        guard let host = hosts.first(where: { $0.name == name }) else { preconditionFailure("no host \(name)") }
        return host
    }

    /// Pulls the host's cable, or plugs it in.
    func setLink(of host: Host, up isUp: Bool) throws {
        guard let index = hosts.firstIndex(of: host) else { return }
        try Tool.run(["ip", "-n", bridge, "link", "set", "\(index)o", isUp ? "up" : "down"])
    }

    /// From now on nothing that one of two hosts sends reaches the other, and nobody is told.
    func part(_ one: Host, from other: Host) throws {
        try Tool.run(one.wrapper + ["ip", "route", "add", "blackhole", "\(other.address)/32"])
        try Tool.run(other.wrapper + ["ip", "route", "add", "blackhole", "\(one.address)/32"])
    }

    func join(_ one: Host, with other: Host) throws {
        try Tool.run(one.wrapper + ["ip", "route", "del", "blackhole", "\(other.address)/32"])
        try Tool.run(other.wrapper + ["ip", "route", "del", "blackhole", "\(one.address)/32"])
    }

    /// Takes hosts and bridge away.
    func remove() {
        for host in hosts {
            _ = try? Tool.run(["ip", "netns", "del", host.namespace])
            try? FileManager.default.removeItem(at: Self.files(of: host))
        }
        _ = try? Tool.run(["ip", "link", "del", bridge])
        _ = try? Tool.run(["ip", "netns", "del", bridge])
    }
}
