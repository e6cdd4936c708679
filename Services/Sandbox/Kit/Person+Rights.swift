extension Person {
    /// What the person may watch, in words.
    func rights(outOf channels: [String]) -> String {
        if loginFails { return "login always fails" }
        let limit = maximumTelevisionRating.map { ", nothing above \($0)" } ?? ""
        switch subscription {
        case .everything: return "all channels" + limit
        case .channels(let own):
            let carried = channels.filter(own.contains)
            return (carried.isEmpty ? "no channel" : carried.joined(separator: ", ")) + limit
        }
    }
}
