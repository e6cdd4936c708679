internal import Clocks
internal import Contracts
internal import Faults
internal import GatewayEdge

/// What copies of services know for themselves, put together for the first page: what fails gets a table, the rest a line.
struct ClusterSections {
    /// One of the lines.
    struct Check {
        let name: String
        let text: String
        /// Somebody has to know more.
        var isDoubtful = false

        var content: [String: Any] { ["checkName": name, "checkText": text, "isDoubtful": isDoubtful] }
    }

    /// Rows of a table; what is beyond is counted.
    static let most = 20
    /// So many people are sent to an MVPD before it is of note that none of them comes back.
    static let fewest: UInt32 = 5

    /// The MVPDs of the visitor; `nil`: all, and their numbers.
    let scope: Set<OctetText>?
    let now: Timestamp
    let mayDegrade: Bool

    private func sees(_ mvpd: String) -> Bool { scope?.contains(OctetText(mvpd)) ?? true }

    // MARK: Decision points

    /// - Parameters:
    ///   - answers: One for each copy of `authorization`.
    ///   - content: Gets the table.
    /// - Returns: The line; `nil`: the table says it all.
    func decisionPoints(_ answers: [BriefAnswer<FailingDecisionPoints>], in content: inout [String: Any]) -> Check? {
        let name = "Decision points"
        guard let silence = Silence(answers, of: "authorization") else {
            return Check(name: name, text: "This cluster does not tell which decision points fail.")
        }
        var found: [OctetText: (point: FailingDecisionPoint, copies: Int)] = [:]
        for point in answers.compactMap(\.value).flatMap(\.points) where sees(point.mvpd) {
            guard let known = found[OctetText(point.mvpd)] else {
                found[OctetText(point.mvpd)] = (point, 1)
                continue
            }
            // The reason is that of the latest failure.
            var whole = known.point.failedAtMilliseconds < point.failedAtMilliseconds ? point : known.point
            whole.failures = known.point.failures &+ point.failures
            whole.failingSinceMilliseconds = min(known.point.failingSinceMilliseconds, point.failingSinceMilliseconds)
            whole.isResting = known.point.isResting || point.isResting
            found[OctetText(point.mvpd)] = (whole, known.copies + 1)
        }
        guard !found.isEmpty else {
            let text = scope == nil ? "Each decision point that was asked lately answers." : "The decision points of your MVPDs answer."
            return Check(name: name, text: silence.text ?? text, isDoubtful: silence.text != nil)
        }
        let rows = found.values.sorted { ($1.point.failures, $0.point.mvpd) < ($0.point.failures, $1.point.mvpd) }
        var table: [String: Any] = ["pointRows": rows.prefix(Self.most).map { row($0.point, copies: $0.copies, of: answers.count) }]
        if scope == nil { table["hasNumbers"] = true }
        let omitted = max(0, rows.count - Self.most) + (scope == nil ? answers.compactMap(\.value).map { Int($0.omitted) }.max() ?? 0 : 0)
        if omitted > 0 { table["morePoints"] = "\(omitted)" }
        if let text = silence.text { table["pointSilence"] = text }
        content["points"] = table
        return nil
    }

    private func row(_ point: FailingDecisionPoint, copies: Int, of all: Int) -> [String: Any] {
        var row: [String: Any] = [
            "pointName": point.mvpd, "pointAddress": ConsoleCollection.mvpds.address(of: point.mvpd),
            "pointSince": DisplayedTime(milliseconds: point.failingSinceMilliseconds).text,
            "pointLatest": DisplayedTime(milliseconds: point.failedAtMilliseconds).text,
            "pointReason": Self.sentence(point.code) + (point.isResting ? " It is left alone for a few seconds at a time." : ""),
        ]
        if scope == nil {
            row["pointCount"] = "\(point.failures)"
            if all > 1 { row["pointCopies"] = "at \(copies) of \(all) copies" }
        }
        if mayDegrade { row["degradeAddress"] = Console.address("degradation", "new", query: ["mvpd": point.mvpd]) }
        return row
    }

    private static func sentence(_ code: String) -> String {
        switch code {
        case "network_connection_timeout": "It does not answer in time."
        case "maximum_execution_time_exceeded": "It takes longer than all attempts together may."
        case "network_received_error": "It cannot be reached, or what it answers is of no use."
        default: "It gives no answer that is of use (\(code))."
        }
    }

    // MARK: People who come back

    /// - Parameters:
    ///   - answers: One for each copy of `authentication`: people may begin at one and come back to another.
    ///   - content: Gets the table.
    /// - Returns: The line; `nil`: the table says it all.
    func returns(_ answers: [BriefAnswer<ReturnCounts>], in content: inout [String: Any]) -> Check? {
        let name = "People who come back"
        guard let silence = Silence(answers, of: "authentication") else {
            return Check(name: name, text: "This cluster does not tell whether people come back from their MVPDs.")
        }
        var sums: [OctetText: (begun: UInt32, returned: UInt32, latest: UInt64)] = [:]
        for counts in answers.compactMap(\.value).flatMap(\.mvpds) where sees(counts.mvpd) {
            var sum = sums[OctetText(counts.mvpd)] ?? (0, 0, 0)
            sum.begun &+= counts.begun
            sum.returned &+= counts.returned
            sum.latest = max(sum.latest, counts.returnedAtMilliseconds)
            sums[OctetText(counts.mvpd)] = sum
        }
        let lost = sums.filter { $0.value.begun >= Self.fewest && $0.value.returned == 0 }
        guard !lost.isEmpty else {
            let text = "Somebody came back from each MVPD to which \(Self.fewest) or more were sent within the last \(Self.window(answers))."
            return Check(name: name, text: silence.text ?? text, isDoubtful: silence.text != nil)
        }
        let rows = lost.sorted { ($1.value.begun, $0.key) < ($0.value.begun, $1.key) }
        var table: [String: Any] = [
            "returnRows": rows.prefix(Self.most).map { mvpd, sum -> [String: Any] in
                var row: [String: Any] = [
                    "returnName": mvpd.text, "returnAddress": ConsoleCollection.mvpds.address(of: mvpd.text),
                    "returnLatest": sum.latest > 0 ? DisplayedTime(milliseconds: sum.latest).text : "not since the service started",
                ]
                if scope == nil { row["returnCount"] = "\(sum.begun)" }
                if mayDegrade { row["degradeAddress"] = Console.address("degradation", "new", query: ["mvpd": mvpd.text]) }
                return row
            }
        ]
        if scope == nil { table["hasNumbers"] = ["returnWindow": Self.window(answers)] }
        if rows.count > Self.most { table["moreReturns"] = "\(rows.count - Self.most)" }
        // They may have come back to a copy that is silent.
        if let text = silence.text { table["returnSilence"] = text }
        content["returns"] = table
        return nil
    }

    /// The time that the counts are of, in words: the longest where copies differ.
    private static func window(_ answers: [BriefAnswer<ReturnCounts>]) -> String {
        let seconds = answers.compactMap(\.value?.windowSeconds).max() ?? 0
        if seconds == 0 { return "hour" }
        if seconds.isMultiple(of: 3600) { return seconds == 3600 ? "hour" : "\(seconds / 3600) hours" }
        return seconds <= 60 ? "minute" : "\((UInt64(seconds) + 59) / 60) minutes"
    }

    // MARK: Services

    /// By the gateway's own watch of their health.
    /// - Returns: The line; `nil`: the table says it all.
    func services(_ peers: [ClusterView.Peer], in content: inout [String: Any]) -> Check? {
        guard !peers.isEmpty else { return nil }
        let failing = peers.filter { peer in peer.copies.isEmpty || !peer.copies.allSatisfy(\.isServing) }
        guard !failing.isEmpty else {
            let copies = peers.reduce(0) { $0 + $1.copies.count }
            return Check(
                name: "Services", text: "Each of the \(peers.count) services serves, with \(copies) copies in all, as this gateway sees them.")
        }
        content["services"] = [
            "serviceRows": failing.map { peer -> [String: Any] in
                let silent = peer.copies.filter { !$0.isServing }
                let serving = peer.copies.count - silent.count
                let reasons = silent.prefix(Self.most).map { copy in
                    ["copyAddress": copy.address, "copyReason": copy.reason.isEmpty ? "there is no connection to it" : copy.reason]
                }
                return [
                    "serviceName": peer.name, "isGone": serving == 0,
                    "serviceState": serving == 0 ? "No copy serves." : "\(serving) of \(peer.copies.count) copies serve.", "silentCopies": reasons,
                ]
            }
        ]
        return nil
    }
}

/// Who did not answer, of the copies of a service.
private struct Silence {
    /// In a sentence; `nil`: all answered.
    let text: String?

    /// - Returns: `nil`: no copy has the call.
    init?<Value>(_ answers: [BriefAnswer<Value>], of service: String) {
        let older = answers.count(where: \.isUnimplemented)
        guard older < answers.count else { return nil }
        let silent = answers.count { answer in if case .known = answer { false } else { !answer.isUnimplemented } }
        var sentences: [String] = []
        let all = answers.count == 1 ? "The copy of \(service)" : "\(silent) of \(answers.count) copies of \(service)"
        if silent > 0 { sentences.append("\(all) \(silent == 1 ? "has" : "have") not answered. Load the page again in a moment.") }
        if older > 0 {
            sentences.append("\(older) of \(answers.count) copies of \(service) \(older == 1 ? "is" : "are") of a release that does not tell.")
        }
        text = sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }
}
