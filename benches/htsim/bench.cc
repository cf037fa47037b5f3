// htsim at its fastest on a network described by benches/network.py. There are no loggers and no names. htsim's output is
// off, because its TCP prints a line at every timeout.
//
//   bench --network=FILE [--NAME=VALUE ...]
//
// Options are below, with their defaults. TCP is htsim's only one: NewReno without SACK, an acknowledgement per packet, no
// limited transmit, a smallest timeout of 250 ms. Its packets have no headers: all their bytes are data. The goodput here
// counts them without the 40 bytes that the headers of the other simulators take.
//
// Prints goodput of TCP, drops, and `packet_hops`: packets times crossed links. The sum is computed at the end from counters
// that cost no time during the run, as in ns2/bench.tcl. Every data packet crosses all links of its path before the link that
// drops it, every acknowledgement all links of the way back. Packets in flight at the end of the run make the sum wrong by at
// most a window per flow. `--count=1` also counts hops packet by packet.

#include "config.h"
#include "network.h"
#include "eventlist.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace
{

constexpr int HEADERS_BYTES = 40;
constexpr double PICOSECONDS = 1e12;
constexpr mem_b UNLIMITED = mem_b(1) << 50;
// The period of htsim's own examples. A timeout is late by half of it on average.
constexpr double TIMER_SCAN_S = 0.01;
constexpr uint32_t NO_SSTHRESH = UINT32_MAX;

/// The options: times in seconds, sizes in bytes or packets.
struct Options
{
    std::string network;
    double duration = 100;
    int packet = 1500;       // bytes on the wire
    uint32_t window = 2;     // initial window in packets
    uint32_t ssthresh = 0;   // initial ssthresh in packets; 0 for none
    bool count = false;
};

[[noreturn]] void
Fail(const std::string& message)
{
    std::fprintf(stderr, "htsim/bench.cc: %s\n", message.c_str());
    std::exit(2);
}

simtime_picosec
Picoseconds(double seconds)
{
    return std::llround(seconds * PICOSECONDS);
}

uint64_t departures = 0;

/// A queue that counts the packets that leave it, for `--count=1`.
class CountingQueue : public Queue
{
  public:
    using Queue::Queue;

  protected:
    void completeService() override
    {
        ++departures;
        Queue::completeService();
    }
};

/// One direction of a link: a queue with its transmitter, then the propagation delay.
struct Direction
{
    std::unique_ptr<Queue> queue;
    std::unique_ptr<Pipe> pipe;
    uint64_t remaining; // links that a TCP data packet has left here, this one included
};

/// A connection. The routes must outlive its packets.
struct Connection
{
    std::unique_ptr<TcpSrc> source;
    std::unique_ptr<TcpSink> sink;
    std::unique_ptr<Route> there;
    std::unique_ptr<Route> back;
    uint64_t links;
};

/// Builds the network from the lines of the file.
class Builder
{
  public:
    Builder(const Options& options, EventList& events)
        : m_options(options),
          m_events(events),
          m_timers(Picoseconds(TIMER_SCAN_S), events)
    {
    }

    void Read()
    {
        std::ifstream file(m_options.network);
        if (!file)
        {
            Fail(m_options.network + ": cannot be read");
        }
        for (std::string text; std::getline(file, text);)
        {
            std::istringstream line(text);
            std::string what;
            line >> what;
            if (what == "link")
            {
                AddLink(line);
            }
            else if (what == "route")
            {
                AddRoute(line);
            }
            else if (what == "tcp")
            {
                AddConnection(line);
            }
            else if (what != "nodes")
            {
                Fail(what + ": expected nodes, link, route or tcp; htsim does not run other traffic here");
            }
        }
    }

    void Print() const
    {
        uint64_t packets = 0;
        uint64_t hops = 0;
        for (const auto& connection : m_connections)
        {
            const TcpSrc& source = *connection->source;
            const TcpSink& sink = *connection->sink;
            // The SYN is the first byte of the sequence, and its answer the first acknowledgement.
            const uint64_t handshake = source._established ? 2 : 0;
            const uint64_t received = sink._packets / m_options.packet;
            const uint64_t sent = source._packets_sent / m_options.packet;
            hops += connection->links * (handshake + sent + received);
            packets += sink._cumulative_ack / m_options.packet;
        }
        uint64_t drops = 0;
        for (const auto& entry : m_links)
        {
            const uint64_t here = entry.second.queue->num_drops();
            drops += here;
            hops -= here * entry.second.remaining;
        }
        const double payload = m_options.packet - HEADERS_BYTES;
        std::printf("goodput_bps %.1f\n", 8.0 * payload * packets / m_options.duration);
        std::printf("drops %lu\n", drops);
        std::printf("datagrams 0\n");
        std::printf("packet_hops %lu\n", hops);
        if (m_options.count)
        {
            std::printf("counted_hops %lu\n", departures);
        }
    }

  private:
    void AddLink(std::istream& line)
    {
        uint32_t one = 0;
        uint32_t other = 0;
        uint64_t limit = 0;
        uint64_t there = 0;
        uint64_t back = 0;
        double rate = 0;
        double delay = 0;
        line >> one >> other >> rate >> delay >> limit >> there >> back;
        AddDirection(one, other, rate, delay, limit, there);
        AddDirection(other, one, rate, delay, limit, back);
    }

    void AddDirection(uint32_t from, uint32_t to, double rate, double delay, uint64_t limit, uint64_t remaining)
    {
        // htsim's limit is in bytes, and includes the packet that is being sent.
        const mem_b most = limit ? mem_b(limit + 1) * m_options.packet : UNLIMITED;
        const linkspeed_bps speed = std::llround(rate);
        Direction direction;
        direction.queue.reset(m_options.count ? new CountingQueue(speed, most, m_events, nullptr)
                                              : new Queue(speed, most, m_events, nullptr));
        direction.pipe.reset(new Pipe(Picoseconds(delay), m_events));
        direction.remaining = remaining;
        m_links[{from, to}] = std::move(direction);
    }

    void AddRoute(std::istream& line)
    {
        uint32_t node = 0;
        uint32_t destination = 0;
        uint32_t next = 0;
        line >> node >> destination >> next;
        m_next[{node, destination}] = next;
    }

    /// htsim's packets carry their whole route, with the receiver at the end.
    std::unique_ptr<Route> PathTo(uint32_t from, uint32_t to, PacketSink& receiver) const
    {
        std::unique_ptr<Route> route(new Route());
        for (uint32_t node = from; node != to;)
        {
            const uint32_t next = m_next.at({node, to});
            const Direction& direction = m_links.at({node, next});
            route->push_back(direction.queue.get());
            route->push_back(direction.pipe.get());
            node = next;
        }
        route->push_back(&receiver);
        return route;
    }

    void AddConnection(std::istream& line)
    {
        uint32_t from = 0;
        uint32_t to = 0;
        double start = 0;
        std::unique_ptr<Connection> connection(new Connection());
        line >> from >> to >> start >> connection->links;
        connection->source.reset(new TcpSrc(nullptr, nullptr, m_events));
        connection->sink.reset(new TcpSink());
        connection->there = PathTo(from, to, *connection->sink);
        connection->back = PathTo(to, from, *connection->source);
        connection->source->set_cwnd(uint64_t(m_options.window) * m_options.packet);
        connection->source->set_ssthresh(m_options.ssthresh ? m_options.ssthresh * m_options.packet : NO_SSTHRESH);
        m_timers.registerTcp(*connection->source);
        connection->source->connect(*connection->there, *connection->back, *connection->sink, Picoseconds(start));
        m_connections.push_back(std::move(connection));
    }

    const Options& m_options;
    EventList& m_events;
    TcpRtxTimerScanner m_timers;
    std::map<std::pair<uint32_t, uint32_t>, Direction> m_links;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_next;
    std::vector<std::unique_ptr<Connection>> m_connections;
};

Options
OptionsOf(int argc, char** argv)
{
    Options options;
    for (int index = 1; index < argc; ++index)
    {
        const std::string argument = argv[index];
        const size_t equals = argument.find('=');
        const std::string name = argument.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
        if (name == "--network")
        {
            options.network = value;
        }
        else if (name == "--duration")
        {
            options.duration = std::stod(value);
        }
        else if (name == "--packet")
        {
            options.packet = std::stoi(value);
        }
        else if (name == "--window")
        {
            options.window = std::stoul(value);
        }
        else if (name == "--ssthresh")
        {
            options.ssthresh = std::stoul(value);
        }
        else if (name == "--count")
        {
            options.count = value == "1";
        }
        else
        {
            Fail(argument + ": expected --network, --duration, --packet, --window, --ssthresh or --count, with =VALUE");
        }
    }
    return options;
}

} // namespace

int
main(int argc, char** argv)
{
    const Options options = OptionsOf(argc, argv);
    Packet::set_packet_size(options.packet);
    std::cout.setstate(std::ios::failbit);
    EventList events;
    events.setEndtime(Picoseconds(options.duration));
    // Never destroyed: its parts are in use until the process ends.
    Builder& builder = *new Builder(options, events);
    builder.Read();
    while (events.doNextEvent())
    {
    }
    builder.Print();
    std::fflush(stdout);
    std::_Exit(0);
}
