internal import Contracts
internal import GatewayEdge

/// An alarm of an upstream in words, the same on every page (bridge §14.1). Shared/Documents/Operations/Bridge.md says what to do about each.
struct UpstreamAlarmText {
    let alarm: UpstreamAlarm

    /// What has happened. Of an alarm that came after this release there is only its name.
    var sentence: String {
        switch alarm.event {
        case "bridge.access_refused": "It does not let our application use a channel."
        case "bridge.bad_request": "It refuses calls of ours as wrong."
        case "bridge.client_lost": "It does not know a client of ours any more."
        case "bridge.clients_lost": "It has lost more than 50 clients of ours within ten minutes."
        case "bridge.clock_skew": "Its clock and ours differ too much."
        case "bridge.domain_refused": "It does not take a domain of ours."
        case "bridge.foreign_address": "It sends browsers to a host that nobody has allowed."
        case "bridge.list_stale": "Its list of MVPDs could not be read for 15 minutes."
        case "bridge.mass_sign_out": "It has forgotten more than a fifth of its people within a minute."
        case "bridge.no_certificate": "Nothing is sent there: our client certificate for it is not at hand."
        case "bridge.private_address": "Nothing is sent there: its name leads into a private network."
        case "bridge.redirect_refused": "It does not take the address to which browsers return."
        case "bridge.reset_refused": "It refuses to reset a trial."
        case "bridge.scope_missing": "Our software statement there is not for REST v2."
        case "bridge.statement_refused": "It refuses our software statement."
        case "bridge.throttled_as_one": "It throttles all devices as if they were one."
        case "bridge.unexpected_answer": "It has answered a sign-in with something that nobody asked for."
        case "bridge.wrong_address": "What answers at its address is no REST v2 API."
        default: "It has an alarm that this release has no words for (\(alarm.event))."
        }
    }

    var content: [String: Any] {
        var content: [String: Any] = [
            "alarmSentence": sentence, "alarmEvent": alarm.event, "alarmTime": DisplayedTime(milliseconds: alarm.atMilliseconds).text,
            "alarmCount": alarm.count == 1 ? "once" : "\(alarm.count) times",
        ]
        if !alarm.details.isEmpty { content["alarmDetails"] = alarm.details }
        return content
    }
}
