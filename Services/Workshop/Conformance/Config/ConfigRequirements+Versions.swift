internal import Clocks
internal import Contracts
internal import Frames

extension ConfigRequirements {
    static let snapshots = [
        Requirement("CONFIG-1", "GetConfiguration answers with a version of at least 1 and when it was made.", source: "config.proto Configuration") {
            examination in
            let configuration = try await examination.greet().configuration()
            guard configuration.version >= 1 else { throw Unmet("a version from 1", came: "version 0") }
            let latest = UInt64(clamping: SystemClock().now().milliseconds) + 24 * 3_600_000
            guard (946_684_800_000...latest).contains(configuration.changedAtMilliseconds) else {
                throw Unmet("changed_at_ms in milliseconds since 1970, not after tomorrow", came: "\(configuration.changedAtMilliseconds)")
            }
        },
        Requirement(
            "CONFIG-2", "GetConfiguration answers the same until the version changes, on every connection.",
            source: "config.proto Configuration.version"
        ) {
            examination in
            let conversation = try await examination.greet()
            let versions = [
                try await conversation.configuration(), try await conversation.configuration(), try await examination.greet().configuration(),
            ]
            for other in versions.dropFirst() where other.version == versions[0].version && other != versions[0] {
                throw Unmet("one content for version \(other.version)", came: "two")
            }
        },
        Requirement(
            "CONFIG-3", "A configuration that is larger than the caller accepts is answered `frame_too_large`, as a call and as an item.",
            source: "WIRE.md §7"
        ) { examination in
            let size = try await examination.greet().configuration().serialized().count
            guard size > 1024 else { throw NotApplicable("the whole configuration takes \(size) bytes") }
            let conversation = try await examination.greet(maxFrameBytes: 1024)
            try await conversation.refusal(of: ConfigMethods.getConfiguration, GetConfigurationRequest(), codes: ["frame_too_large"])
            let watch = try await conversation.watch(knownVersion: 0)
            let event = try await conversation.next()
            guard case .frame(let frame) = event, case .streamEnd(let end) = frame.kind, end.callID == watch, end.fault?.code == "frame_too_large"
            else {
                throw Unmet("a stream_end with `frame_too_large`", came: FrameText.text(event))
            }
        },
    ]

    /// The fault with which a stream ends, or is refused before its first item (WIRE.md §5).
    private static func refusal(of watch: UInt64, _ frame: Frame) -> WireFault? {
        switch frame.kind {
        case .streamEnd(let end) where end.callID == watch: return end.fault
        case .response(let response) where response.callID == watch:
            if case .fault(let fault) = response.outcome { return fault }
            return nil
        default: return nil
        }
    }

    static let watches = [
        Requirement(
            "CONFIG-4", "WatchConfiguration sends the current version at once to a caller that has none.", source: "config.proto WatchConfiguration"
        ) {
            examination in
            let conversation = try await examination.greet()
            let current = try await conversation.configuration()
            let item = try await conversation.requireVersion(of: conversation.watch(knownVersion: 0), "the current version")
            guard item == current else { throw Unmet("what GetConfiguration answers", came: "version \(item.version) with other content") }
        },
        Requirement(
            "CONFIG-5", "WatchConfiguration does not send the version that the caller has, and stays open.",
            source: "config.proto WatchConfigurationRequest.known_version"
        ) { examination in
            let conversation = try await examination.greet()
            let current = try await conversation.configuration()
            let watch = try await conversation.watch(knownVersion: current.version)
            // A service that has answered this call has seen the watch too, however busy it is.
            let method = ConfigMethods.getConfiguration
            let call = try await conversation.request(method.service, method.name)
            while true {
                let event = try await conversation.next()
                guard case .frame(let frame) = event else { throw Unmet("a response to call \(call)", came: FrameText.text(event)) }
                if case .response(let response) = frame.kind, response.callID == call { break }
                throw Unmet("nothing in the stream of call \(watch)", came: FrameText.text(frame))
            }
            if let item = try await conversation.version(of: watch, within: .milliseconds(700)) {
                throw Unmet("nothing", came: "version \(item.version)")
            }
        },
        Requirement(
            "CONFIG-6", "WatchConfiguration sends the current version once to a caller that has an older one.",
            source: "config.proto WatchConfiguration, WatchConfigurationRequest.known_version"
        ) { examination in
            let conversation = try await examination.greet()
            let current = try await conversation.configuration()
            guard current.version > 0 else { throw Unmet("a version from 1", came: "version 0") }
            let watch = try await conversation.watch(knownVersion: current.version - 1)
            let item = try await conversation.requireVersion(of: watch, "the current version")
            guard item.version == current.version else { throw Unmet("version \(current.version)", came: "version \(item.version)") }
            if let again = try await conversation.version(of: watch, within: .milliseconds(500)) {
                throw Unmet("nothing more", came: "version \(again.version)")
            }
        },
        Requirement(
            "CONFIG-7", "WatchConfiguration sends the current version also to a caller that has a newer one: the service's state was set back.",
            source: "config.proto WatchConfigurationRequest.known_version"
        ) { examination in
            let conversation = try await examination.greet()
            let current = try await conversation.configuration()
            let watch = try await conversation.watch(knownVersion: current.version &+ 1000)
            let item = try await conversation.requireVersion(of: watch, "the current version")
            guard item.version == current.version else { throw Unmet("version \(current.version)", came: "version \(item.version)") }
        },
        Requirement("CONFIG-8", "Several watches go on side by side, with other calls between them.", source: "WIRE.md §4, §5") { examination in
            let conversation = try await examination.greet()
            let current = try await conversation.configuration()
            let watches = Set([try await conversation.watch(knownVersion: 0), try await conversation.watch(knownVersion: 0)])
            var waiting = watches
            while !waiting.isEmpty {
                let event = try await conversation.next()
                guard case .frame(let frame) = event, case .streamItem(let item) = frame.kind, waiting.remove(item.callID) != nil else {
                    throw Unmet("an item of each of two streams", came: FrameText.text(event))
                }
            }
            guard try await conversation.configuration().version == current.version else { throw Unmet("the same version", came: "another") }
        },
    ]

    static let updates = [
        Requirement(
            "CONFIG-9", "A change gives a greater version, which every watcher is sent and GetConfiguration then answers.",
            source: "config.proto WatchConfiguration, Configuration.version"
        ) { examination in
            let watchers = [try await examination.greet(), try await examination.greet()]
            let current = try await watchers[0].configuration()
            var watches: [UInt64] = []
            for watcher in watchers { watches.append(try await watcher.establishedWatch()) }
            try await examination.change()
            for (watcher, watch) in zip(watchers, watches) {
                let item = try await watcher.requireVersion(of: watch, "a version above \(current.version)", within: Examination.changePatience)
                guard item.version > current.version else { throw Unmet("a version above \(current.version)", came: "version \(item.version)") }
                let now = try await examination.greet().configuration()
                guard now.version > item.version || now == item else { throw Unmet("the item's content", came: "other content for one version") }
            }
        },
        Requirement(
            "CONFIG-10", "The versions of one watch rise; none is sent twice.", source: "config.proto WatchConfiguration"
        ) { examination in
            let conversation = try await examination.greet()
            let watch = try await conversation.watch(knownVersion: 0)
            var last = try await conversation.requireVersion(of: watch, "the current version").version
            for _ in 0..<2 {
                try await examination.change()
                let item = try await conversation.requireVersion(of: watch, "a version above \(last)", within: Examination.changePatience)
                guard item.version > last else { throw Unmet("a version above \(last)", came: "version \(item.version)") }
                last = item.version
            }
        },
        Requirement(
            "CONFIG-11", "A caller that connects again with the version that it had is sent what it missed, at once.",
            source: "config.proto WatchConfigurationRequest.known_version"
        ) { examination in
            let first = try await examination.greet()
            let before = try await first.configuration().version
            let watch = try await first.watch(knownVersion: before)
            try await examination.change()
            _ = try await first.requireVersion(of: watch, "a version above \(before)", within: Examination.changePatience)
            await first.probe.close()
            let second = try await examination.greet()
            let item = try await second.requireVersion(of: second.watch(knownVersion: before), "the version that was missed")
            guard item.version > before else { throw Unmet("a version above \(before)", came: "version \(item.version)") }
        },
        Requirement(
            "CONFIG-26", "A watcher is sent a version within a second of its being what GetConfiguration answers.",
            source: "config.proto WatchConfiguration"
        ) { examination in
            let (watcher, reader) = (try await examination.greet(), try await examination.greet())
            let before = try await reader.configuration().version
            let watch = try await watcher.establishedWatch()
            try await examination.change()
            let end = ContinuousClock.now + Examination.changePatience
            while try await reader.configuration().version <= before {
                guard ContinuousClock.now < end else { throw Unmet("a version above \(before)", came: "version \(before) still") }
                try await Task.sleep(for: .milliseconds(20))
            }
            guard let item = try await watcher.version(of: watch, within: Self.watchPatience), item.version > before else {
                throw Unmet("a version above \(before) in the stream, within a second", came: "nothing in \(Self.watchPatience)")
            }
        },
    ]

    /// The second that the contract allows, and what a busy machine adds.
    private static let watchPatience: Duration = .seconds(3)
}
